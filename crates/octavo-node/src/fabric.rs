//! Links between processors, and the lines that cross them.

use octavo_units::{Bandwidth, Bytes, Cycles, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::gpu::is_false;

/// A link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Payload bandwidth each way; of one link, where `links` says how many a pair of GPUs has.
    pub bandwidth: Bandwidth,
    /// Payload bandwidth towards the host, of a host link that differs by direction; default `bandwidth`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_host: Option<Bandwidth>,
    /// Cycles from one end to the other, one way.
    pub latency: Cycles,
    /// Who shares the bandwidth. Every GPU always has one host link.
    pub sharing: LinkSharing,
}

/// Which processors share the bandwidth of GPU links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinkSharing {
    /// A GPU's bandwidth is shared by its traffic with all peers.
    PerGpu,
    /// Each pair of GPUs has the full bandwidth for itself.
    PerPair,
}

/// Switches between GPUs: each has a few GPUs below it and a trunk to the root, of the bandwidth of a GPU link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchConfig {
    /// GPUs below one switch.
    pub gpus: u32,
    /// Cycles that a path across the root takes longer than one below a switch, one way.
    pub across: Cycles,
    /// Whether packets pass a switch one behind the other. Then a packet that waits for its output holds up those
    /// behind it, whatever their outputs are, for at most its own length for each other input. Links between GPUs serve
    /// packets in the order in which they arrive. Otherwise, the default (`false`), each packet waits for its own way
    /// out alone.
    #[serde(default, skip_serializing_if = "is_false")]
    pub in_order: bool,
}

/// Two GPUs with links of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PairConfig {
    /// The two GPUs of the pair, numbered from 0, in any order.
    pub gpus: [u32; 2],
    /// Links between them, which share their traffic.
    pub count: u32,
}

/// Switches between the host and GPUs: those below one share one link to the host, of the bandwidth of a host link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostSwitchConfig {
    /// GPUs below one switch; with 1 nothing is shared.
    pub gpus: u32,
}

/// Engines that copy pages, one for each direction of each link, which does one copy after another. A copy passes the
/// memories and the links at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CopyEngineConfig {
    /// Time from the command to a copy's first byte. It passes while an engine is busy with the copy before.
    pub setup: Time,
    /// Time from one piece of a copy to the next: a piece is what one frame of the host holds. The link is free
    /// meanwhile.
    #[serde(default, skip_serializing_if = "is_no_time")]
    pub piece: Time,
    /// Whether the copies of a plan between the host and a GPU are one command, which is made back to back: those after
    /// the first wait for no command, no setup and not for the link's latency. Default `false`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub batched: bool,
    /// For how long each copy occupies its engine beside its bytes; not at all if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occupied: Option<OccupiedConfig>,
}

/// How long a copy between the host and a GPU occupies its engine, in addition to its bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OccupiedConfig {
    /// Towards the GPU.
    pub to_gpu: Time,
    /// Towards the host.
    pub to_host: Time,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_no_time(time: &Time) -> bool {
    *time == Time::ZERO
}

/// Cache-line access to another processor's memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoteConfig {
    /// Remote lines a GPU may have in flight (0: no limit). Where nothing waits for stores (`compute.posted_stores`), they
    /// are not among them.
    pub lines_in_flight: u32,
    /// Bytes of a read request, or of the header of a packet that carries a line.
    pub header: Bytes,
    /// What a line of the host takes beside its 64 bytes if it is asked for without the other half of its 128; as
    /// `header` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lone_header: Option<Bytes>,
    /// Entries of the coalescing write queue for broadcast stores (GPS), one for each GPU.
    pub write_queue: u32,
}
