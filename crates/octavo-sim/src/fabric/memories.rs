//! The host's memories beyond its first: bandwidth as reservations, latency, and the purpose of the bytes. The host's
//! own costs say how the first one is accessed.

use octavo_manager::MemoryId;
use octavo_node::NodeConfig;
use octavo_units::{Bandwidth, Time};

use crate::engine::lane::Lane;
use crate::engine::rate::{BUCKET_SHIFT, Rate};
use crate::fabric::direction::LinkUse;
use crate::fabric::traffic::Traffic;

/// The nearest to the host's cores first, so that they are numbered as they lie here.
pub(crate) struct FurtherMemories(Vec<FurtherMemory>);

struct FurtherMemory {
    lane: Lane,
    rate: Rate,
    latency: u64,
    bytes: [u64; Traffic::COUNT],
}

impl FurtherMemories {
    pub fn new(node: &NodeConfig) -> Self {
        Self::of(node.further_memories().into_iter().map(|(_, memory)| (memory.bandwidth, memory.latency)))
    }

    /// By their bandwidths and latencies.
    pub fn of(memories: impl Iterator<Item = (Bandwidth, Time)>) -> Self {
        let memory = |(bandwidth, latency): (Bandwidth, Time)| FurtherMemory {
            lane: Lane::new(BUCKET_SHIFT),
            rate: Rate::new(bandwidth),
            latency: latency.0,
            bytes: [0; Traffic::COUNT],
        };
        Self(memories.map(memory).collect())
    }

    /// Whether the host has but one memory.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `bytes` are read from, or written to, such a memory from `time` on; returns when the last of them arrive.
    ///
    /// # Panics
    /// If `memory` is a GPU's or the host's first.
    pub fn access(&mut self, now: u64, time: u64, memory: MemoryId, bytes: u64, traffic: Traffic) -> u64 {
        let index = memory.host_index().and_then(|index| index.checked_sub(1));
        let memory = &mut self.0[index.expect("a further memory of the host")];
        memory.bytes[traffic as usize] += bytes;
        memory.lane.reserve(now, time, memory.rate.time_for(bytes).max(1)) + memory.latency
    }

    /// The time that `bytes` of such a memory take alone.
    pub fn idle(&self, memory: MemoryId, bytes: u64) -> u64 {
        let index = memory.host_index().and_then(|index| index.checked_sub(1));
        index
            .and_then(|index| self.0.get(index))
            .map_or(0, |memory| memory.rate.time_for(bytes).max(1) + memory.latency)
    }

    /// Use of every memory.
    pub fn usage(&self) -> impl Iterator<Item = LinkUse> + '_ {
        let memories = self.0.iter().zip(1..);
        memories.map(|(memory, index)| LinkUse {
            name: MemoryId::host(index).to_string(),
            bytes: memory.bytes,
            busy: memory.lane.busy(),
        })
    }
}
