//! The node that is managed.

use crate::contract::error::ConfigError;
use crate::contract::ids::{HOST, MAX_PROCESSORS, ProcessorId, ProcessorMask};

/// The part of a node that the manager has to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// Pages that fit into each GPU's memory, of 1 to 16 GPUs; `u32::MAX` for no limit. The host's memory has none.
    pub capacity_pages: Vec<u32>,
    /// Which processor can map which memory.
    pub reach: Reach,
}

impl Topology {
    /// GPUs with so many pages each, which reach each other's memory and the host's. The host does not reach theirs, as
    /// behind PCIe (`uvm-driver.md` section 1).
    ///
    /// ```
    /// use octavo_manager::{HOST, ProcessorId, Topology};
    ///
    /// let topology = Topology::of(vec![1024; 2]);
    /// assert!(topology.reach.can_map(ProcessorId::gpu(0), ProcessorId::gpu(1)));
    /// assert!(!topology.reach.can_map(HOST, ProcessorId::gpu(0)));
    /// ```
    #[must_use]
    pub fn of(capacity_pages: Vec<u32>) -> Self {
        let reach = Reach::behind_pcie(capacity_pages.len());
        Self { capacity_pages, reach }
    }

    /// Such GPUs that hold as much as is asked of them.
    #[must_use]
    pub fn unlimited(gpus: usize) -> Self {
        Self::of(vec![u32::MAX; gpus])
    }

    /// GPUs in the node.
    #[must_use]
    pub fn gpus(&self) -> usize {
        self.capacity_pages.len()
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let refuse = |key: &str, message: String| Err(ConfigError { key: key.to_owned(), message });
        let gpus = self.gpus();
        if gpus == 0 || gpus >= MAX_PROCESSORS {
            return refuse("gpus", format!("expected 1 to {}, found {gpus}", MAX_PROCESSORS - 1));
        }
        if let Some(gpu) = self.capacity_pages.iter().position(|&pages| pages == 0) {
            return refuse("capacity_pages", format!("gpu{gpu} has no room for a single page"));
        }
        if self.reach.0.len() != gpus + 1 {
            let found = self.reach.0.len();
            return refuse("reach", format!("expected one for the host and each of {gpus} GPUs, found {found}"));
        }
        if let Some(gpu) = ProcessorMask::all_gpus(gpus).iter().find(|&gpu| !self.reach.can_map(gpu, HOST)) {
            return refuse("reach", format!("expected every GPU to map the host's memory, {gpu} does not"));
        }
        Ok(())
    }
}

/// Which processor can map which memory. A processor that cannot map a memory never gets a mapping to it: what it
/// touches there comes to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach(Vec<ProcessorMask>);

impl Reach {
    /// By processor, the host first: whose memories it can map, its own or not among them. Every GPU maps the host's.
    #[must_use]
    pub fn new(memories: Vec<ProcessorMask>) -> Self {
        Self(memories)
    }

    /// GPUs map everything, the host its own memory.
    fn behind_pcie(gpus: usize) -> Self {
        let everything = ProcessorMask::all_gpus(gpus.min(MAX_PROCESSORS - 1)).with(HOST);
        let mut memories = vec![everything; gpus + 1];
        memories[0] = ProcessorMask::only(HOST);
        Self(memories)
    }

    /// Whether `processor` can have a mapping to `memory`; to its own it always can.
    #[must_use]
    pub fn can_map(&self, processor: ProcessorId, memory: ProcessorId) -> bool {
        processor == memory || self.0[processor.index()].contains(memory)
    }

    /// Those of `processors` that can have a mapping to `memory`.
    #[must_use]
    pub(crate) fn who_can_map(&self, memory: ProcessorId, processors: ProcessorMask) -> ProcessorMask {
        let able = processors.iter().filter(|&processor| self.can_map(processor, memory));
        able.fold(ProcessorMask::EMPTY, ProcessorMask::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_without_memory_is_refused() {
        assert_eq!(Topology::of(vec![4, 0]).validate().unwrap_err().key, "capacity_pages");
        assert_eq!(Topology::unlimited(17).validate().unwrap_err().key, "gpus");
        assert_eq!(Topology::of(Vec::new()).validate().unwrap_err().key, "gpus");
    }

    #[test]
    fn a_gpu_that_does_not_reach_the_host_is_refused() {
        let own = |index| ProcessorMask::only(ProcessorId(index));
        let reach = Reach::new(vec![own(0), own(1)]);
        let refused = Topology { reach, ..Topology::unlimited(1) }.validate().unwrap_err();
        assert_eq!(refused.key, "reach");
        assert!(refused.message.contains("gpu0 does not"), "{refused}");
        let too_few = Topology { reach: Reach::new(vec![own(0)]), ..Topology::unlimited(1) };
        assert_eq!(too_few.validate().unwrap_err().key, "reach");
    }
}
