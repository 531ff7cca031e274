//! The parts of models, from their published configurations: parameters of each part, 16 bits each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bytes of a parameter, and of an element of the cache (bfloat16).
pub const ELEMENT: u64 = 2;

/// Dense models: every token passes every parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Dense {
    /// Llama 3, 8 billion parameters.
    #[default]
    #[serde(rename = "llama-3-8b")]
    Llama8,
    /// Llama 3, 70 billion parameters.
    #[serde(rename = "llama-3-70b")]
    Llama70,
}

/// Mixtures of experts: a token passes a few of each layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Mixture {
    /// Qwen 3, 30 billion parameters, 8 of 128 experts.
    #[default]
    #[serde(rename = "qwen3-30b-a3b")]
    Qwen30,
    /// Mixtral 8x7B, 47 billion parameters, 2 of 8 experts.
    #[serde(rename = "mixtral-8x7b")]
    Mixtral,
}

/// A transformer of equal layers, with grouped heads and gated feed-forward parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// How many.
    pub layers: u32,
    /// Elements of a token between layers.
    pub hidden: u64,
    /// Elements of a token's queries.
    pub queries: u64,
    /// Elements of a token's keys, and also of its values.
    pub keys: u64,
    /// Elements inside the feed-forward part, or inside one expert.
    pub inner: u64,
    /// Tokens there are.
    pub vocabulary: u64,
    /// Feed-forward parts of a layer; one if the model is dense.
    pub experts: u32,
    /// How many of them a token passes.
    pub chosen: u32,
}

impl Dense {
    /// Its sizes (`config.json` of the model).
    #[must_use]
    pub const fn model(self) -> Model {
        let common = Model {
            layers: 32,
            hidden: 4096,
            queries: 4096,
            keys: 1024,
            inner: 14_336,
            vocabulary: 128_256,
            experts: 1,
            chosen: 1,
        };
        match self {
            Self::Llama8 => common,
            Self::Llama70 => Model { layers: 80, hidden: 8192, queries: 8192, inner: 28_672, ..common },
        }
    }
}

impl Mixture {
    /// Its sizes (`config.json` of the model).
    #[must_use]
    pub const fn model(self) -> Model {
        match self {
            Self::Qwen30 => Model {
                layers: 48,
                hidden: 2048,
                queries: 4096,
                keys: 512,
                inner: 768,
                vocabulary: 151_936,
                experts: 128,
                chosen: 8,
            },
            Self::Mixtral => {
                let like = Dense::Llama8.model();
                Model { vocabulary: 32_000, experts: 8, chosen: 2, ..like }
            }
        }
    }
}

impl Model {
    /// Parameters of a layer's attention: queries, keys, values, output.
    #[must_use]
    pub const fn attention(&self) -> u64 {
        self.hidden * (2 * self.queries + 2 * self.keys)
    }

    /// Parameters of one feed-forward part: gate, up, down.
    #[must_use]
    pub const fn expert(&self) -> u64 {
        3 * self.hidden * self.inner
    }

    /// Parameters that turn the last layer's output into tokens. The embedding has the same number, but a step reads
    /// only a row of it for each token, which is left out.
    #[must_use]
    pub const fn head(&self) -> u64 {
        self.hidden * self.vocabulary
    }

    /// Parameters altogether, including the input's.
    #[must_use]
    pub const fn parameters(&self) -> u64 {
        self.layers as u64 * (self.attention() + self.experts as u64 * self.expert()) + 2 * self.head()
    }

    /// Bytes of a token's keys and values in one layer.
    #[must_use]
    pub const fn cached(&self) -> u64 {
        2 * self.keys * ELEMENT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published; norms and routers are left out.
    #[test]
    fn parameters_and_cache_are_the_published_ones() {
        for (model, billions, cached) in [
            (Dense::Llama8.model(), 8.03, 131_072),
            (Dense::Llama70.model(), 70.55, 327_680),
            (Mixture::Mixtral.model(), 46.70, 131_072),
            (Mixture::Qwen30.model(), 30.53, 98_304),
        ] {
            assert!((model.parameters() as f64 / 1e9 - billions).abs() < 0.02, "{model:?}: {}", model.parameters());
            assert_eq!(u64::from(model.layers) * model.cached(), cached);
        }
        assert_eq!(Mixture::Mixtral.model().expert(), 176_160_768);
    }
}
