//! What the memory manager is told of a node.

use octavo_manager::{MemoryId, MemorySpec, Topology};
use octavo_units::Bytes;

use crate::host::FurtherMemoryConfig;
use crate::memory::CapacityScope;
use crate::node::NodeConfig;
use crate::validate::NodeError;

/// The fewest pages a GPU must hold. Any number makes progress, since a page stays until its fault is replayed, but
/// below this a run measures nothing but eviction.
const MIN_CAPACITY_PAGES: u64 = 3;

/// A GPU would hold fewer pages than any program can run with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`node.capacity`: memory is too small for this workload: {pages} pages of {page_bytes} bytes a GPU, \
     expected at least {MIN_CAPACITY_PAGES}"
)]
pub struct TooFewPages {
    /// Pages that each GPU would hold.
    pub pages: u64,
    /// Bytes of a page.
    pub page_bytes: u64,
}

impl NodeConfig {
    /// Pages of `page_bytes` bytes that each GPU can hold when a workload has `footprint` of them; `None` without a
    /// limit.
    ///
    /// # Errors
    /// When that is too few to run.
    pub fn capacity_pages(&self, page_bytes: u64, footprint: u64) -> Result<Option<u32>, TooFewPages> {
        let percent = u64::from(self.capacity.footprint_percent);
        let bytes = self.capacity.bytes.0;
        if percent == 0 && bytes == 0 {
            return Ok(None);
        }
        let sharers = match self.capacity.scope {
            CapacityScope::PerGpu => 1,
            CapacityScope::Total => u64::from(self.gpus),
        };
        let pages = if bytes > 0 { bytes / page_bytes } else { (footprint * percent).div_ceil(100 * sharers) };
        if pages < MIN_CAPACITY_PAGES.min(footprint) {
            return Err(TooFewPages { pages, page_bytes });
        }
        Ok(Some(u32::try_from(pages).unwrap_or(u32::MAX)))
    }

    /// The host's memories beyond its first, the nearest to its cores first, with their numbers.
    #[must_use]
    pub fn further_memories(&self) -> Vec<(MemoryId, &FurtherMemoryConfig)> {
        let mut memories: Vec<&FurtherMemoryConfig> = self.host.memories.iter().collect();
        memories.sort_by_key(|memory| memory.latency);
        memories.into_iter().zip(1..).map(|(memory, index)| (MemoryId::host(index), memory)).collect()
    }

    /// The node as the manager sees it, with pages of `page_bytes` bytes, of which each GPU holds `capacity`.
    ///
    /// # Errors
    /// A memory of the host that holds not a single page.
    pub fn topology(&self, capacity: Option<u32>, page_bytes: u64) -> Result<Topology, NodeError> {
        let mut topology = Topology::of(vec![capacity.unwrap_or(u32::MAX); self.gpus as usize]);
        let first = self.host.memory.capacity;
        if first.0 > 0 {
            topology.memories[0].capacity_pages = pages_of("host.memory.capacity", first, page_bytes)?;
        }
        for (id, memory) in self.further_memories() {
            let key = format!("host.memories (`{}`)", memory.name);
            topology.memories.push(MemorySpec { id, capacity_pages: pages_of(&key, memory.capacity, page_bytes)? });
        }
        Ok(topology)
    }
}

/// Whole pages of a memory of the host.
fn pages_of(key: &str, capacity: Bytes, page_bytes: u64) -> Result<u32, NodeError> {
    match capacity.0 / page_bytes {
        0 => Err(NodeError {
            key: key.to_owned(),
            message: format!("expected room for a page of {}, found {capacity}", Bytes(page_bytes)),
        }),
        pages => Ok(u32::try_from(pages).unwrap_or(u32::MAX)),
    }
}
