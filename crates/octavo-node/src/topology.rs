//! Tells the memory manager about a node.

use octavo_manager::{FastLinks, MemoryId, MemoryMask, MemorySpec, SystemTable, Topology};
use octavo_units::Bytes;

use crate::coherence::GpuMemory;
use crate::error::NodeError;
use crate::host::FurtherMemoryConfig;
use crate::memory::CapacityScope;
use crate::node::NodeConfig;

/// The fewest pages a GPU must hold. Any number makes progress, since a page stays until its fault is replayed, but
/// below this a run measures nothing but eviction.
const MIN_CAPACITY_PAGES: u64 = 3;

/// A GPU cannot have that much memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CapacityError {
    /// It would hold fewer pages than any program can run with.
    #[error(
        "`{key}`: memory is too small for this workload: {pages} pages of {page_bytes} bytes a GPU, expected at least \
         {MIN_CAPACITY_PAGES}"
    )]
    TooFew {
        /// What says so.
        key: String,
        /// Pages that each GPU would hold.
        pages: u64,
        /// Bytes of a page.
        page_bytes: u64,
    },
    /// It would change to more than there is.
    #[error("`{key}`: expected at most the {most} bytes that `node.capacity` gives a GPU, found {found}")]
    TooMuch {
        /// What says so.
        key: String,
        /// Bytes in whole pages.
        found: u64,
        /// Bytes of a GPU in whole pages.
        most: u64,
    },
}

/// From a time on, a GPU holds this many pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapacityAt {
    /// Picoseconds.
    pub time: u64,
    /// Which GPU.
    pub gpu: usize,
    /// How many pages.
    pub pages: u32,
}

impl NodeConfig {
    /// Pages of `page_bytes` bytes that each GPU can hold at first when a workload has `footprint` of them; `None`
    /// without a limit.
    ///
    /// # Errors
    /// When that is too few to run.
    pub fn capacity_pages(&self, page_bytes: u64, footprint: u64) -> Result<Option<u32>, CapacityError> {
        let percent = self.capacity.footprint_percent;
        let bytes = self.capacity.bytes.0;
        if percent == 0 && bytes == 0 {
            return Ok(None);
        }
        let pages = if bytes > 0 { bytes / page_bytes } else { self.share_of(footprint, percent) };
        enough("node.capacity", pages, page_bytes, footprint)?;
        Ok(Some(u32::try_from(pages).unwrap_or(u32::MAX)))
    }

    /// The later capacities of each GPU, in order of time and GPU.
    ///
    /// # Errors
    /// When that is too few to run, or more than [at first](Self::capacity_pages).
    pub fn capacity_changes(&self, page_bytes: u64, footprint: u64) -> Result<Vec<CapacityAt>, CapacityError> {
        let first = self.capacity_pages(page_bytes, footprint)?;
        let mut all = Vec::new();
        for (index, change) in self.capacity.change.iter().enumerate() {
            let key = format!("node.capacity.change[{index}]");
            let pages = match (change.bytes, change.footprint_percent) {
                (Some(bytes), _) => bytes.0 / page_bytes,
                (None, percent) => self.share_of(footprint, percent.unwrap_or_default()),
            };
            enough(&key, pages, page_bytes, footprint)?;
            if let Some(most) = first.map(u64::from).filter(|most| pages > *most) {
                return Err(CapacityError::TooMuch { key, found: pages * page_bytes, most: most * page_bytes });
            }
            let pages = u32::try_from(pages).unwrap_or(u32::MAX);
            let own = |gpu: &u32| change.gpus.is_empty() || change.gpus.contains(gpu);
            let gpus = (0..self.gpus).filter(own);
            all.extend(gpus.map(|gpu| CapacityAt { time: change.at.0, gpu: gpu as usize, pages }));
        }
        all.sort_by_key(|change| (change.time, change.gpu));
        Ok(all)
    }

    /// Pages of a GPU that are this many per cent of a footprint, or its part of them.
    fn share_of(&self, footprint: u64, percent: u32) -> u64 {
        let sharers = match self.capacity.scope {
            CapacityScope::PerGpu => 1,
            CapacityScope::Total => u64::from(self.gpus),
        };
        (footprint * u64::from(percent)).div_ceil(100 * sharers)
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
        topology = match self.coherence.as_ref().map(|coherence| coherence.gpu_memory) {
            None => Topology { fast: self.fast_links(), ..topology },
            Some(GpuMemory::Numa) => topology.coherent(),
            Some(GpuMemory::Cdmm) => {
                let fast = FastLinks::all(self.gpus as usize);
                Topology { fast, system: SystemTable::Shared { on_gpus: false }, ..topology }
            }
        };
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

impl NodeConfig {
    /// Links between GPUs that carry more than the link of one of them to the host are fast; nothing is behind PCIe.
    fn fast_links(&self) -> FastLinks {
        let faster = |gpu: u32, other: u32| self.bandwidth_between(gpu, other) > self.host_link.bandwidth.0;
        let of = |gpu: u32| {
            let others = (0..self.gpus).filter(|&other| other != gpu && faster(gpu, other));
            others.fold(MemoryMask::EMPTY, |mask, other| mask.with(MemoryId::gpu(other as usize)))
        };
        FastLinks::new(std::iter::once(MemoryMask::EMPTY).chain((0..self.gpus).map(of)).collect())
    }

    /// Bytes a second that two GPUs send to each other over links of their own; 0 if their traffic goes through the
    /// host.
    fn bandwidth_between(&self, gpu: u32, other: u32) -> u64 {
        let Some(pairs) = &self.links else { return self.gpu_link.bandwidth.0 };
        let own = pairs.iter().filter(|pair| pair.gpus == [gpu, other] || pair.gpus == [other, gpu]);
        own.map(|pair| u64::from(pair.count).saturating_mul(self.gpu_link.bandwidth.0)).fold(0, u64::saturating_add)
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

fn enough(key: &str, pages: u64, page_bytes: u64, footprint: u64) -> Result<(), CapacityError> {
    if pages >= MIN_CAPACITY_PAGES.min(footprint) {
        return Ok(());
    }
    Err(CapacityError::TooFew { key: key.to_owned(), pages, page_bytes })
}
