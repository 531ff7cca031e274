//! Serving by the names that users type.

use octavo_program::{Size, Workload, WorkloadEntry};
use octavo_registry::{OptionError, Options, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decode::{Decode, Window};
use super::experts::Experts;
use super::models::{Dense, ELEMENT, Mixture, Model};
use super::request_files::Recorded;
use super::requests::requests;
use super::schedule::Limits;
use super::traces::TraceChoice;
use crate::notes;

/// Bytes of device memory that an H100 SXM reads in a millisecond (NVIDIA's data sheet: 3.35 TB/s).
const BYTES_PER_MS: f64 = 3.35e9;

/// Most steps that are simulated.
const MOST_STEPS: u32 = 10_000;

/// The served model, and how it is served.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LlmOptions {
    /// The model. Default `llama-3-8b`.
    pub model: Dense,
    /// The trace whose statistics requests have, or a file of requests, which are replayed: Azure's or `BurstGPT`'s
    /// CSV, Mooncake's JSON lines. Default `azure-chat`.
    pub trace: TraceChoice,
    /// Milliseconds of a step, by which times in a file become steps, above 0. Default: the time to read all weights at
    /// 3.35 TB/s (H100 SXM, NVIDIA's data sheet).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_ms: Option<f64>,
    /// Average number of requests in progress if each got a token every step, 0.001 to 4096; not used with a file.
    /// Default 32 (our choice).
    pub load: f64,
    /// Steps that are simulated, 1 to 10000. Default 16 (our choice); of a file, those in which all its requests are
    /// served.
    pub steps: u32,
    /// Steps that have ended when the simulation begins, up to 100000. Default 1000 (chosen: the first requests have
    /// left by then), 0 of a file.
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
            trace: TraceChoice::default(),
            step_ms: None,
            load: 32.0,
            steps: 16,
            after: 1000,
            batch: 256,
            block: 16,
            cache: 1 << 17,
        }
    }
}

/// Like [`LlmOptions`], for a mixture of experts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MoeOptions {
    /// The model. Default `qwen3-30b-a3b`.
    pub model: Mixture,
    /// How much more popular some experts are: the expert of rank r is drawn with a weight of 1/r to this power, 0 to
    /// 2. Default 0.85 (fitted to a published skew of 128 experts).
    pub skew: f64,
    /// The trace whose statistics requests have, or a file of requests, which are replayed: Azure's or `BurstGPT`'s
    /// CSV, Mooncake's JSON lines. Default `azure-chat`.
    pub trace: TraceChoice,
    /// Milliseconds of a step, by which times in a file become steps, above 0. Default: what it takes to read all
    /// weights at 3.35 TB/s (H100 SXM, NVIDIA's data sheet).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_ms: Option<f64>,
    /// Requests that would be under way on average if each got a token every step, 0.001 to 4096; not used with a file.
    /// Default 4 (chosen: few enough that a step passes a part of the experts).
    pub load: f64,
    /// Steps that are simulated, 1 to 10000. Default 16 (our choice); of a file, those that serve all its requests.
    pub steps: u32,
    /// Steps that have ended when the simulation begins, up to 100000. Default 1000 (chosen: the first requests have
    /// left by then), 0 of a file.
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
        let LlmOptions { trace, step_ms, steps, after, batch, block, .. } = LlmOptions::default();
        let (model, cache) = (Mixture::default(), 1 << 15);
        Self { model, skew: 0.85, trace, step_ms, load: 4.0, steps, after, batch, block, cache }
    }
}

/// Options that both have in common.
struct Serving {
    model: Model,
    skew: f64,
    trace: TraceChoice,
    step_ms: Option<f64>,
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
            ("steps", 1, MOST_STEPS, window.steps),
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
        if let Some(found) = self.step_ms.filter(|step| !(1e-6..=1e6).contains(step)) {
            return Err(OptionError::new("step_ms", format!("expected 0.000001 to 1000000, found {found}")));
        }
        Ok(())
    }

    /// The cache holds the longest request.
    fn check_cache(&self, longest: u32) -> Result<(), OptionError> {
        let Self { limits, .. } = self;
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
        let Self { model, skew, load, window, limits, .. } = *self;
        let experts = Experts::new(model.layers, model.experts, model.chosen, skew, size.seed);
        Ok(Box::new(match &self.trace {
            TraceChoice::Statistics(trace) => {
                self.check_cache(trace.longest())?;
                let requests = requests(*trace, load, size.seed);
                Decode::new(model, &experts, limits, requests, window, size.scale)?
            }
            TraceChoice::File(file) => {
                let recorded = Recorded::read(file)?;
                self.check_cache(recorded.longest())?;
                let replayed = (recorded, self.step(file) / 1e3);
                Decode::of_file(model, &experts, limits, replayed, window, size.scale)?
            }
        }))
    }

    /// Milliseconds of a step of a file's requests.
    fn step(&self, file: &str) -> f64 {
        let usual = (self.model.parameters() * ELEMENT) as f64 / BYTES_PER_MS;
        if self.step_ms.is_none() {
            notes::add(
                file,
                &format!("a step is taken to last {usual:.3} ms, by which times become steps (`step_ms`)"),
            );
        }
        self.step_ms.unwrap_or(usual)
    }
}

/// Options of both kinds that have the same words.
macro_rules! serving {
    ($options:ident, $skew:expr) => {
        Serving {
            model: $options.model.model(),
            skew: $skew,
            trace: $options.trace,
            step_ms: $options.step_ms,
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

/// Options with the defaults that differ for a file of requests: it begins with the first, and ends with the last.
fn of_file(options: &Options) -> Options {
    let mut options = options.clone();
    let name = options.get("trace").and_then(|name| name.as_str()).map(str::to_owned);
    let is_file = |name: String| matches!(TraceChoice::try_from(name), Ok(TraceChoice::File(_)));
    if name.is_some_and(is_file) {
        options.entry("after").or_insert_with(|| 0.into());
        options.entry("steps").or_insert_with(|| MOST_STEPS.into());
    }
    options
}

/// Decoding with a dense model.
pub static LLM: WorkloadEntry = WorkloadEntry {
    name: "llm-decode",
    summary: "A language model that serves requests: all weights each step, paged keys and values",
    source: "vLLM (SOSP 2023); sizes of Llama 3; requests by the statistics of Azure's traces of 2023",
    schema: typed::schema::<LlmOptions>,
    resolve: |options| typed::resolve::<LlmOptions>(&of_file(options)),
    build: |options, size: &Size| {
        let options: LlmOptions = typed::parse(&of_file(options))?;
        serving!(options, 0.0).build(size)
    },
};

/// Decoding with a mixture of experts.
pub static MOE: WorkloadEntry = WorkloadEntry {
    name: "moe-decode",
    summary: "A mixture of experts that serves requests: popular experts each step, others now and then",
    source: "vLLM (SOSP 2023); sizes of Qwen 3 and Mixtral; requests by the statistics of Azure's traces of 2023",
    schema: typed::schema::<MoeOptions>,
    resolve: |options| typed::resolve::<MoeOptions>(&of_file(options)),
    build: |options, size: &Size| {
        let options: MoeOptions = typed::parse(&of_file(options))?;
        serving!(options, options.skew).build(size)
    },
};
