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
    /// Time for each block of 2 MiB that faults of the batch are in, however many they are: the production driver serves
    /// them together. `0ns`, the default: there is nothing but the requests' time.
    #[serde(default, skip_serializing_if = "is_no_time")]
    pub block: Time,
    /// When those whose faults were served go on, and what becomes of faults that came meanwhile; `batch` unless said
    /// otherwise, and left out then.
    #[serde(default, skip_serializing_if = "Replay::is_batch")]
    pub replay: Replay,
    /// Time from the first request to an idle driver until it takes a batch of what is there then: an interrupt, and
    /// that the driver is scheduled. `0ns`, the default: it takes the first request at once, by itself.
    #[serde(default, skip_serializing_if = "is_no_time")]
    pub interrupt: Time,
    /// Whose requests are in one queue, of which one batch is served at a time. `node`, the default: those of all GPUs.
    #[serde(default, skip_serializing_if = "BatchScope::is_node")]
    pub scope: BatchScope,
}

/// Whose requests are served in batches, one after another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BatchScope {
    /// Those of all GPUs.
    #[default]
    Node,
    /// Those of each GPU, beside the others': the production driver has a bottom half for each (`uvm-driver.md` section 2).
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
    /// Whoever faulted goes on as soon as the plan of their fault is done, before the batch is over (0).
    Block,
    /// Everyone goes on when the batch is over. Faults that came meanwhile wait for the next one (1).
    #[default]
    Batch,
    /// The same, but faults that came meanwhile are discarded: their accesses are tried again, too, and fault again if
    /// they have to (2, the driver's default). The driver discards what it last knew to be there, or, if more than half
    /// of the batch were duplicates, all that is there; here it is always all.
    BatchFlush,
    /// Everyone goes on when nobody waits any more, or after 20 batches (3).
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
