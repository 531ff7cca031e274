//! Serving by the names that users type.

use octavo_program::{Size, Workload, WorkloadEntry};
use octavo_registry::{OptionError, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decode::{Decode, Window};
use super::experts::Experts;
use super::models::{Dense, Mixture, Model};
use super::requests::requests;
use super::schedule::Limits;
use super::traces::Trace;

/// What is served, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LlmOptions {
    /// The model. Default `llama-3-8b`.
    pub model: Dense,
    /// The trace whose statistics requests have. Default `azure-chat`.
    pub trace: Trace,
    /// Requests that would be under way on average if each got a token every step, 0.001 to 4096. Default 32 (chosen).
    pub load: f64,
    /// Steps that are simulated, 1 to 10000. Default 16 (chosen).
    pub steps: u32,
    /// Steps that are over when the simulation begins, up to 100000. Default 1000 (chosen: the first requests have left by then).
    pub after: u32,
    /// Requests served at the same time at most, 1 to 4096. Default 256 (vLLM's `max_num_seqs`).
    pub batch: u32,
    /// Tokens of a block of the cache, 1 to 1024. Default 16 (vLLM).
    pub block: u32,
    /// Tokens that the cache holds, in whole blocks. Default 131072 (chosen: 16 GiB of `llama-3-8b`).
    pub cache: u32,
}

impl Default for LlmOptions {
    fn default() -> Self {
        Self {
            model: Dense::default(),
            trace: Trace::default(),
            load: 32.0,
            steps: 16,
            after: 1000,
            batch: 256,
            block: 16,
            cache: 1 << 17,
        }
    }
}

/// As [`LlmOptions`], of a mixture of experts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MoeOptions {
    /// The model. Default `qwen3-30b-a3b`.
    pub model: Mixture,
    /// How much more popular some experts are: the expert of rank r is drawn with a weight of 1/r to this power, 0 to
    /// 2. Default 0.85 (fitted to a published skew of 128 experts).
    pub skew: f64,
    /// The trace whose statistics requests have. Default `azure-chat`.
    pub trace: Trace,
    /// Requests that would be under way on average if each got a token every step, 0.001 to 4096. Default 4 (chosen: few
    /// enough that a step passes a part of the experts).
    pub load: f64,
    /// Steps that are simulated, 1 to 10000. Default 16 (chosen).
    pub steps: u32,
    /// Steps that are over when the simulation begins, up to 100000. Default 1000 (chosen: the first requests have left by then).
    pub after: u32,
    /// Requests served at the same time at most, 1 to 4096. Default 256 (vLLM's `max_num_seqs`).
    pub batch: u32,
    /// Tokens of a block of the cache, 1 to 1024. Default 16 (vLLM).
    pub block: u32,
    /// Tokens that the cache holds, in whole blocks. Default 32768 (chosen: 3 GiB of `qwen3-30b-a3b`).
    pub cache: u32,
}

impl Default for MoeOptions {
    fn default() -> Self {
        let LlmOptions { trace, steps, after, batch, block, .. } = LlmOptions::default();
        let (model, cache) = (Mixture::default(), 1 << 15);
        Self { model, skew: 0.85, trace, load: 4.0, steps, after, batch, block, cache }
    }
}

/// What both have in common.
struct Serving {
    model: Model,
    skew: f64,
    trace: Trace,
    load: f64,
    window: Window,
    limits: Limits,
    /// Tokens that the cache was asked to hold.
    cache: u32,
}

impl Serving {
    fn check(&self) -> Result<(), OptionError> {
        let Self { window, limits, .. } = self;
        for (key, least, most, found) in [
            ("steps", 1, 10_000, window.steps),
            ("after", 0, 100_000, window.after),
            ("batch", 1, 4096, limits.batch as u32),
            ("block", 1, 1024, limits.block),
        ] {
            if !(least..=most).contains(&found) {
                return Err(OptionError::new(key, format!("expected {least} to {most}, found {found}")));
            }
        }
        if !(1e-3..=4096.0).contains(&self.load) {
            return Err(OptionError::new("load", format!("expected 0.001 to 4096, found {}", self.load)));
        }
        if !(0.0..=2.0).contains(&self.skew) {
            return Err(OptionError::new("skew", format!("expected 0 to 2, found {}", self.skew)));
        }
        let longest = self.trace.longest();
        let least = longest.div_ceil(limits.block) * limits.block;
        if self.cache < least {
            let found = self.cache;
            let message = format!("expected at least {least}, the longest request with its reply, found {found}");
            return Err(OptionError::new("cache", message));
        }
        Ok(())
    }

    fn build(&self, size: &Size) -> Result<Box<dyn Workload>, OptionError> {
        self.check()?;
        let Self { model, skew, trace, load, window, limits, cache: _ } = *self;
        let experts = Experts::new(model.layers, model.experts, model.chosen, skew, size.seed);
        let requests = requests(trace, load, size.seed);
        Ok(Box::new(Decode::new(model, &experts, limits, requests, window, size.scale)?))
    }
}

/// What both kinds of options say in the same words.
macro_rules! serving {
    ($options:ident, $skew:expr) => {
        Serving {
            model: $options.model.model(),
            skew: $skew,
            trace: $options.trace,
            load: $options.load,
            window: Window { after: $options.after, steps: $options.steps },
            limits: Limits {
                batch: $options.batch as usize,
                block: $options.block,
                blocks: $options.cache / $options.block.max(1),
            },
            cache: $options.cache,
        }
    };
}

/// Decoding with a dense model.
pub static LLM: WorkloadEntry = WorkloadEntry {
    name: "llm-decode",
    summary: "A language model that serves requests: all weights each step, paged keys and values",
    source: "vLLM (SOSP 2023); sizes of Llama 3; requests by the statistics of Azure's traces of 2023",
    schema: typed::schema::<LlmOptions>,
    resolve: typed::resolve::<LlmOptions>,
    build: |options, size: &Size| {
        let options: LlmOptions = typed::parse(options)?;
        serving!(options, 0.0).build(size)
    },
};

/// Decoding with a mixture of experts.
pub static MOE: WorkloadEntry = WorkloadEntry {
    name: "moe-decode",
    summary: "A mixture of experts that serves requests: popular experts each step, others now and then",
    source: "vLLM (SOSP 2023); sizes of Qwen 3 and Mixtral; requests by the statistics of Azure's traces of 2023",
    schema: typed::schema::<MoeOptions>,
    resolve: typed::resolve::<MoeOptions>,
    build: |options, size: &Size| {
        let options: MoeOptions = typed::parse(options)?;
        serving!(options, options.skew).build(size)
    },
};
