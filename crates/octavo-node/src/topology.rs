//! What the memory manager is told of a node.

use octavo_manager::Topology;

use crate::memory::CapacityScope;
use crate::node::NodeConfig;

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

    /// The node as the manager sees it, each GPU of which holds `capacity` pages.
    #[must_use]
    pub fn topology(&self, capacity: Option<u32>) -> Topology {
        let gpus = self.gpus as usize;
        Topology::of(vec![capacity.unwrap_or(u32::MAX); gpus])
    }
}
