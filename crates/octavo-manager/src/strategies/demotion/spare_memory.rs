//! `spare-memory`: idle memory of other GPUs keeps victims before the host does.

use octavo_registry::{Entry, typed};
use octavo_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Demotion, Occupancy};
use crate::contract::geometry::Geometry;
use crate::contract::ids::{HOST_MEMORY, MemoryId};

/// Which of the GPUs that lend memory gets a block.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Neighbour {
    /// Each in turn, so that each builds up blocks that it can remove (memHarvester, USENIX ATC 2022).
    RoundRobin,
    /// The one with the fewest blocks that await their copy on the host, the lowest numbered of several (the artefact
    /// of the publication).
    FewestPending,
}

/// Options of `spare-memory`.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// Bytes of a GPU's memory that are free, or removable without a copy, after it has taken a block of another GPU.
    /// Rounded up to pages, and at most half of the memory. With `pre_eviction`, less what nothing evicts there;
    /// default 100MiB (memHarvester, USENIX ATC 2022: 50 chunks of 2 MiB).
    reserve: Bytes,
    /// Which of the GPUs that lend memory gets a block: `round-robin` (the default, memHarvester, USENIX ATC 2022) or
    /// `fewest-pending`, the one with the fewest blocks that await their copy on the host (its artefact).
    neighbour: Neighbour,
    /// Whether victims leave ahead of need as soon as less than the reserve is free or kept for others; default false
    /// (memHarvester, USENIX ATC 2022: pre-eviction, which it adds to hierarchical eviction).
    pre_eviction: bool,
    /// Whether blocks of a batch of faults come over several links at once: half of those on the host by way of GPUs
    /// that lend memory. It helps where faults are served in batches; default false (memHarvester, USENIX ATC 2022:
    /// parallel fetch).
    parallel_fetch: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { reserve: Bytes(100 << 20), neighbour: Neighbour::RoundRobin, pre_eviction: false, parallel_fetch: false }
    }
}

pub(super) static ENTRY: Entry<Box<dyn Demotion>, Geometry> = Entry {
    name: "spare-memory",
    summary: "whole blocks go to GPUs with idle memory first, and to the host in the background",
    source: "memHarvester (USENIX ATC 2022): hierarchical eviction",
    schema: typed::schema::<Options>,
    resolve: typed::resolve::<Options>,
    build: |options, geometry| {
        let options: Options = typed::parse(options)?;
        let reserve = u32::try_from(options.reserve.0.div_ceil(geometry.page_size.0)).unwrap_or(u32::MAX);
        Ok(Box::new(SpareMemory { options, reserve, next: 0, harvests: vec![false; geometry.gpus] }))
    },
};

struct SpareMemory {
    options: Options,
    /// Frames.
    reserve: u32,
    /// The GPU that is next.
    next: usize,
    /// By GPU, whether it harvests: from its first eviction until it takes a block of another (`uvm-driver.md` section
    /// 8).
    harvests: Vec<bool>,
}

impl SpareMemory {
    /// Whether a GPU can take this many pages and have its reserve.
    fn lends(&self, memory: MemoryId, pages: u32, memories: &Occupancy<'_>) -> bool {
        let available = memories.spare(memory).saturating_add(memories.removable(memory));
        available >= self.reserve.min(memories.capacity(memory) / 2).saturating_add(pages)
    }
    /// A GPU that can take this many pages on behalf of another.
    fn choose(&mut self, other: MemoryId, pages: u32, memories: &Occupancy<'_>) -> Option<MemoryId> {
        let (first, gpus) = (self.next, self.harvests.len());
        let in_turn = (first..first + gpus).map(|turn| MemoryId::gpu(turn % gpus));
        let mut lenders = in_turn.filter(|&memory| memory != other && self.lends(memory, pages, memories));
        let chosen = match self.options.neighbour {
            Neighbour::RoundRobin => lenders.next(),
            Neighbour::FewestPending => lenders.min_by_key(|&memory| memories.awaiting(memory)),
        };
        if let (Neighbour::RoundRobin, Some(index)) = (self.options.neighbour, chosen.and_then(MemoryId::gpu_index)) {
            self.next = (index + 1) % gpus;
        }
        chosen
    }

    fn set_harvests(&mut self, memory: MemoryId, harvests: bool) {
        if let Some(gpu) = memory.gpu_index() {
            self.harvests[gpu] = harvests;
        }
    }
}

impl Demotion for SpareMemory {
    fn destination(&mut self, from: MemoryId, pages: u32, memories: &Occupancy<'_>) -> MemoryId {
        self.choose(from, pages, memories).unwrap_or(HOST_MEMORY)
    }

    fn left(&mut self, from: MemoryId, to: MemoryId) {
        self.set_harvests(from, true);
        self.set_harvests(to, false);
    }

    fn reserve(&self) -> u32 {
        if self.options.pre_eviction { self.reserve } else { 0 }
    }

    fn asked_for(&self) -> Option<(&'static str, u32)> {
        Some(("reserve", self.reserve))
    }

    fn lender(&mut self, to: MemoryId, pages: u32, memories: &Occupancy<'_>) -> Option<MemoryId> {
        self.choose(to, pages, memories)
    }

    fn fetches_in_parallel(&self) -> bool {
        self.options.parallel_fetch
    }

    fn crowded(&self) -> bool {
        let harvesters = self.harvests.iter().filter(|&&harvests| harvests).count();
        harvesters > self.harvests.len() - harvesters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_gpus(count: usize) -> SpareMemory {
        SpareMemory { options: Options::default(), reserve: 0, next: 0, harvests: vec![false; count] }
    }

    #[test]
    fn it_is_crowded_while_more_gpus_borrow_than_lend() {
        let mut three = of_gpus(3);
        let mut left = |from: usize, to: MemoryId| {
            three.left(MemoryId::gpu(from), to);
            three.crowded()
        };
        assert!(!left(0, MemoryId::gpu(2)), "one of three borrows");
        assert!(left(1, HOST_MEMORY), "two of three do: what goes to the host found no room elsewhere");
        assert!(!left(1, MemoryId::gpu(0)), "the first lends now");
    }

    #[test]
    fn it_is_not_crowded_while_as_many_gpus_lend_as_borrow() {
        let mut two = of_gpus(2);
        assert!(!two.crowded());
        two.left(MemoryId::gpu(0), MemoryId::gpu(1));
        assert!(!two.crowded());
    }
}
