//! The node that is managed.

use crate::contract::error::ConfigError;
use crate::contract::ids::{HOST, HOST_MEMORY, MAX_GPUS, MAX_MEMORIES, MAX_PROCESSORS, MemoryId, ProcessorId};
use crate::contract::masks::{MemoryMask, ProcessorMask};

/// A memory of a node. Its number says which processor it is [near](MemoryId::processor) and of which
/// [tier](MemoryId::tier) it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySpec {
    /// Which.
    pub id: MemoryId,
    /// Pages that fit into it; `u32::MAX` for no limit.
    pub capacity_pages: u32,
}

/// The part of a node that the manager has to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// The host's first memory, the memories of 1 to 72 GPUs, then further memories of the host, the nearest to its
    /// cores first.
    pub memories: Vec<MemorySpec>,
    /// Which processor can map which memory.
    pub reach: Reach,
    /// Which memory a processor reaches by a fast link.
    pub fast: FastLinks,
    /// Whose page table GPUs use for memory of the operating system.
    pub system: SystemTable,
}

/// Whose page table GPUs use for memory of the operating system ([`Kind::System`](crate::Kind::System)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SystemTable {
    /// Their own: its pages move and are mapped as others are (HMM).
    #[default]
    Own,
    /// The host's (ATS, `grace-hopper.md`): if one processor can access a page, all can that reach it. A page is made
    /// where it is touched first or the placement says, and moves when counters or programs say so. It is never evicted
    /// and evicts no other page: pages that find no frame on a GPU stay on the host, or are made there.
    Shared {
        /// Whether GPUs' memories take its pages; if not, they are all on the host (CDMM).
        on_gpus: bool,
    },
}

impl Topology {
    /// GPUs with this many pages each, which reach each other's memory by fast links, and the host's memory. The host's
    /// has no limit, and the host does not reach theirs, as behind PCIe (`uvm-driver.md` section 1).
    ///
    /// ```
    /// use octavo_manager::{HOST, MemoryId, ProcessorId, Topology};
    ///
    /// let topology = Topology::of(vec![1024; 2]);
    /// assert!(topology.reach.can_map(ProcessorId::gpu(0), MemoryId::gpu(1)));
    /// assert!(!topology.reach.can_map(HOST, MemoryId::gpu(0)));
    /// ```
    #[must_use]
    pub fn of(gpu_pages: Vec<u32>) -> Self {
        let (reach, fast) = (Reach::behind_pcie(gpu_pages.len()), FastLinks::between_gpus(gpu_pages.len()));
        let host = MemorySpec { id: HOST_MEMORY, capacity_pages: u32::MAX };
        let gpus =
            gpu_pages.into_iter().zip(1..).map(|(capacity_pages, id)| MemorySpec { id: MemoryId(id), capacity_pages });
        Self { memories: std::iter::once(host).chain(gpus).collect(), reach, fast, system: SystemTable::Own }
    }

    /// GPUs of the same kind without a limit of capacity.
    #[must_use]
    pub fn unlimited(gpus: usize) -> Self {
        Self::of(vec![u32::MAX; gpus])
    }

    /// The same with processors that all reach all memories and one page table for memory of the operating system, as
    /// where GPUs are cache-coherent with the host.
    #[must_use]
    pub fn coherent(self) -> Self {
        let everything = MemoryMask::all_gpus(self.gpus()).union(MemoryMask::HOSTS);
        let reach = Reach::new(vec![everything; self.gpus() + 1]);
        Self { reach, fast: FastLinks::all(self.gpus()), system: SystemTable::Shared { on_gpus: true }, ..self }
    }

    /// GPUs in the node.
    #[must_use]
    pub fn gpus(&self) -> usize {
        self.gpu_memories().count()
    }

    /// The GPUs' memories.
    pub fn gpu_memories(&self) -> impl Iterator<Item = &MemorySpec> {
        self.memories.iter().filter(|memory| !memory.id.on_host())
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let refuse = |key: &str, message: String| Err(ConfigError::new(key, message));
        let gpus = self.gpus().max(self.reach.0.len().saturating_sub(1));
        if gpus == 0 || gpus >= MAX_PROCESSORS {
            return refuse("gpus", format!("expected 1 to {MAX_GPUS}, found {gpus}"));
        }
        if let Some(memory) = self.memories.iter().find(|memory| memory.capacity_pages == 0) {
            return refuse("capacity_pages", format!("{} has no room for a single page", memory.id));
        }
        self.validate_order(gpus)?;
        if self.reach.0.len() != gpus + 1 {
            let found = self.reach.0.len();
            return refuse("reach", format!("expected one for the host and each of {gpus} GPUs, found {found}"));
        }
        if self.fast.0.len() != gpus + 1 {
            let found = self.fast.0.len();
            return refuse("fast", format!("expected one for the host and each of {gpus} GPUs, found {found}"));
        }
        let blind = |&gpu: &ProcessorId| !self.reach.can_map(gpu, HOST_MEMORY);
        if let Some(gpu) = ProcessorMask::all_gpus(gpus).iter().find(blind) {
            return refuse("reach", format!("expected every GPU to map the host's memory, {gpu} does not"));
        }
        Ok(())
    }

    /// The host's first memory, the GPUs', the host's others.
    fn validate_order(&self, gpus: usize) -> Result<(), ConfigError> {
        let further = (MAX_PROCESSORS..MAX_MEMORIES).map(|id| MemoryId(id as u8));
        let expected = (0..=gpus).map(|id| MemoryId(id as u8)).chain(further);
        let found: Vec<MemoryId> = self.memories.iter().map(|memory| memory.id).collect();
        if expected.take(found.len()).eq(found.iter().copied()) {
            return Ok(());
        }
        let message = format!("expected host, {gpus} GPUs, then the host's other memories in order, found {found:?}");
        Err(ConfigError::new("memories", message))
    }
}

/// Which processor can map which memory. A processor that cannot map a memory never gets a mapping to it: pages that it
/// touches there come to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach(Vec<MemoryMask>);

impl Reach {
    /// By processor, the host first: the memories that it can map, its own or not among them. Every GPU maps the
    /// host's.
    #[must_use]
    pub fn new(memories: Vec<MemoryMask>) -> Self {
        Self(memories)
    }

    /// GPUs map everything, the host its own memories.
    fn behind_pcie(gpus: usize) -> Self {
        let everything = MemoryMask::all_gpus(gpus.min(MAX_GPUS)).union(MemoryMask::HOSTS);
        let mut memories = vec![everything; gpus + 1];
        memories[HOST.index()] = MemoryMask::HOSTS;
        Self(memories)
    }

    /// Whether `processor` can have a mapping to `memory`; it always can for memory near it.
    #[must_use]
    pub fn can_map(&self, processor: ProcessorId, memory: MemoryId) -> bool {
        processor == memory.processor() || self.0[processor.index()].contains(memory)
    }

    /// The members of `processors` that can map `memory`.
    #[must_use]
    pub(crate) fn who_can_map(&self, memory: MemoryId, processors: ProcessorMask) -> ProcessorMask {
        let able = processors.iter().filter(|&processor| self.can_map(processor, memory));
        able.fold(ProcessorMask::EMPTY, ProcessorMask::with)
    }
}

/// Which memories a processor reaches by links with atomics that are faster than the way to a host behind PCIe:
/// `NVLink` between GPUs, links of coherent hosts. Memory near a processor needs none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FastLinks(Vec<MemoryMask>);

impl FastLinks {
    /// By processor, the host first: the memories that it reaches by fast links.
    #[must_use]
    pub fn new(memories: Vec<MemoryMask>) -> Self {
        Self(memories)
    }

    /// No switch: GPUs and host behind PCIe.
    #[must_use]
    pub fn none(gpus: usize) -> Self {
        Self(vec![MemoryMask::EMPTY; gpus + 1])
    }

    /// GPUs each other's, and no processor the host.
    #[must_use]
    pub fn between_gpus(gpus: usize) -> Self {
        let mut fast = Self(vec![MemoryMask::all_gpus(gpus.min(MAX_GPUS)); gpus + 1]);
        fast.0[HOST.index()] = MemoryMask::EMPTY;
        fast
    }

    /// Every processor can map every memory.
    #[must_use]
    pub fn all(gpus: usize) -> Self {
        let everything = MemoryMask::all_gpus(gpus.min(MAX_GPUS)).union(MemoryMask::HOSTS);
        Self(vec![everything; gpus + 1])
    }

    /// Whether `processor` reaches `memory` by a fast link.
    #[must_use]
    pub fn lead(&self, processor: ProcessorId, memory: MemoryId) -> bool {
        self.0[processor.index()].contains(memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_without_memory_is_refused() {
        assert_eq!(Topology::of(vec![4, 0]).validate().unwrap_err().key, "capacity_pages");
        assert_eq!(Topology::unlimited(MAX_PROCESSORS).validate().unwrap_err().key, "gpus");
        assert_eq!(Topology::of(Vec::new()).validate().unwrap_err().key, "gpus");
    }

    #[test]
    fn a_gpu_that_does_not_reach_the_host_is_refused() {
        let own = |index| MemoryMask::only(MemoryId(index));
        let reach = Reach::new(vec![own(0), own(1)]);
        let refused = Topology { reach, ..Topology::unlimited(1) }.validate().unwrap_err();
        assert_eq!(refused.key, "reach");
        assert!(refused.message.contains("gpu0 does not"), "{refused}");
        let too_few = Topology { reach: Reach::new(vec![own(0)]), ..Topology::unlimited(1) };
        assert_eq!(too_few.validate().unwrap_err().key, "reach");
    }
}
