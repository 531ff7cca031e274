//! How the driver serves requests, as a node file says it. Values and their sources live in the node files.

use octavo_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the driver serves requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case")]
pub enum ServiceModel {
    /// A pool of servers, each request served alone.
    Pool(PoolConfig),
    /// Batches, one at a time, as the production driver does.
    Batch(BatchConfig),
}

/// A pool of servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoolConfig {
    /// Time one server spends on one request.
    pub service: Time,
    /// Servers.
    pub servers: u32,
}

/// Batched service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchConfig {
    /// Most requests a batch.
    pub size: u32,
    /// Fixed time a batch.
    pub batch: Time,
    /// Time for each request in it.
    pub request: Time,
    /// Time for each block of 2 MiB with faults of the batch, no matter how many: the production driver serves them
    /// together. `0ns`, the default: only the requests' time counts.
    #[serde(default, skip_serializing_if = "is_no_time")]
    pub block: Time,
    /// When processors with served faults continue, and how faults that came meanwhile are treated; default `batch`,
    /// which is not written out.
    #[serde(default, skip_serializing_if = "Replay::is_batch")]
    pub replay: Replay,
    /// Time from the first request to an idle driver until it takes a batch of all requests made by then: for an
    /// interrupt and for scheduling the driver. `0ns`, the default: it takes the first request at once, alone.
    #[serde(default, skip_serializing_if = "is_no_time")]
    pub interrupt: Time,
    /// Time from the end of a batch until the driver looks whether there are requests again. If there are none it is
    /// idle until the next interrupt. `0ns`, the default: it is idle at once.
    #[serde(default, skip_serializing_if = "is_no_time")]
    pub look: Time,
    /// Which requests share a queue; each queue serves one batch at a time. `node`, the default: the requests of all
    /// GPUs.
    #[serde(default, skip_serializing_if = "BatchScope::is_node")]
    pub scope: BatchScope,
}

/// Which requests share a queue that serves one batch at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BatchScope {
    /// The requests of all GPUs.
    #[default]
    Node,
    /// The requests of each GPU, side by side: the production driver has a bottom half for each (`uvm-driver.md`
    /// section 2).
    PerGpu,
}

impl BatchScope {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
    fn is_node(&self) -> bool {
        *self == Self::Node
    }
}

/// The production driver's replay policies (`uvm_perf_fault_replay_policy`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Replay {
    /// A processor that faulted continues as soon as its fault's plan is done, before the batch ends (0).
    Block,
    /// All processors continue when the batch ends. Faults that arrived meanwhile wait for the next one (1).
    #[default]
    Batch,
    /// The same, but faults that came meanwhile are discarded: their accesses are tried again, too, and fault again if
    /// they have to (2, the driver's default). The driver discards the faults that it last knew of, or all if more than
    /// half of the batch were duplicates; here it always discards all.
    BatchFlush,
    /// All processors continue when no fault waits any more, or after 20 batches (3).
    Once,
}

impl Replay {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
    fn is_batch(&self) -> bool {
        *self == Self::Batch
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_no_time(time: &Time) -> bool {
    *time == Time::ZERO
}
