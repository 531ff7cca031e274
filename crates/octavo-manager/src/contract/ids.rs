//! Names of processors, memories and pages.

use std::fmt;

/// Most GPUs in a node: as many as one `NVLink` domain has (NVL72).
pub const MAX_GPUS: usize = 72;

/// Most processors in a node: the host and its GPUs.
pub const MAX_PROCESSORS: usize = MAX_GPUS + 1;

/// Most memories in a node: each processor's own, and seven further ones of the host.
pub const MAX_MEMORIES: usize = MAX_PROCESSORS + 7;

/// A processor issues accesses and has a page table: the host's cores (0) or a GPU (1, 2, …).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessorId(pub u8);

/// The host: its cores.
pub const HOST: ProcessorId = ProcessorId(0);

impl ProcessorId {
    /// The GPU numbered `index` from zero.
    ///
    /// # Panics
    /// If `index` is not below [`MAX_GPUS`].
    #[must_use]
    pub const fn gpu(index: usize) -> Self {
        assert!(index + 1 < MAX_PROCESSORS);
        Self(index as u8 + 1)
    }

    /// Index of this GPU from zero, `None` for the host.
    #[must_use]
    pub const fn gpu_index(self) -> Option<usize> {
        if self.0 == 0 { None } else { Some(self.0 as usize - 1) }
    }

    /// Its own memory; of the host's, the first.
    #[must_use]
    pub const fn memory(self) -> MemoryId {
        MemoryId::of(self)
    }

    /// Index among all processors, the host first.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for ProcessorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.gpu_index() {
            None => f.write_str("host"),
            Some(index) => write!(f, "gpu{index}"),
        }
    }
}

/// A memory that holds pages: the host's first (0), each GPU's (numbered as the GPU), then further ones of the host,
/// such as the memory of another NUMA node or an expander behind CXL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryId(pub u8);

/// The host's first memory.
pub const HOST_MEMORY: MemoryId = MemoryId(0);

/// Which sort of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// A GPU's own.
    Gpu,
    /// One of the host's.
    Host,
}

impl MemoryId {
    /// A processor's own memory; of the host's, the first.
    #[must_use]
    pub const fn of(processor: ProcessorId) -> Self {
        Self(processor.0)
    }

    /// The memory of the GPU numbered `index` from zero.
    ///
    /// # Panics
    /// If `index` is not below [`MAX_GPUS`].
    #[must_use]
    pub const fn gpu(index: usize) -> Self {
        Self::of(ProcessorId::gpu(index))
    }

    /// The host's memory numbered `index` from zero, the nearest to its cores first.
    ///
    /// # Panics
    /// If `index` is not below 8.
    #[must_use]
    pub const fn host(index: usize) -> Self {
        assert!(index <= MAX_MEMORIES - MAX_PROCESSORS);
        if index == 0 { HOST_MEMORY } else { Self((MAX_PROCESSORS + index - 1) as u8) }
    }

    /// Index among the host's memories from zero, `None` for a GPU's.
    #[must_use]
    pub const fn host_index(self) -> Option<usize> {
        match self.0 as usize {
            0 => Some(0),
            index if index >= MAX_PROCESSORS => Some(index + 1 - MAX_PROCESSORS),
            _ => None,
        }
    }

    /// Index of the GPU that owns it, from zero; `None` for the host.
    #[must_use]
    pub const fn gpu_index(self) -> Option<usize> {
        if self.on_host() { None } else { Some(self.0 as usize - 1) }
    }

    /// Whether it is one of the host's memories.
    #[must_use]
    pub const fn on_host(self) -> bool {
        (self.0 as usize).wrapping_sub(1) >= MAX_PROCESSORS - 1
    }

    /// The sort of memory.
    #[must_use]
    pub const fn tier(self) -> Tier {
        if self.on_host() { Tier::Host } else { Tier::Gpu }
    }

    /// The processor that it is near: its owner.
    #[must_use]
    pub const fn processor(self) -> ProcessorId {
        if self.on_host() { HOST } else { ProcessorId(self.0) }
    }

    /// Index among the memories of a node with `gpus` GPUs, which has no room for those of other GPUs.
    #[must_use]
    #[inline]
    pub const fn place(self, gpus: usize) -> usize {
        let absent = if self.index() < MAX_PROCESSORS { 0 } else { MAX_PROCESSORS - 1 - gpus };
        self.index() - absent
    }

    /// Index into arrays of [`MAX_MEMORIES`].
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl From<ProcessorId> for MemoryId {
    fn from(processor: ProcessorId) -> Self {
        Self::of(processor)
    }
}

impl fmt::Display for MemoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host_index() {
            None | Some(0) => self.processor().fmt(f),
            Some(index) => write!(f, "host{index}"),
        }
    }
}

/// A page of managed virtual memory: its address divided by the page size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageId(pub u32);

impl PageId {
    /// Index into per-page arrays.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A virtual address space, one for each application. Pages of different spaces have different numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpaceId(pub u16);

/// Consecutive pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageRun {
    /// The first page.
    pub first: PageId,
    /// The number of pages, at least one.
    pub count: u32,
}

impl PageRun {
    /// A run of one page.
    #[must_use]
    pub const fn one(page: PageId) -> Self {
        Self { first: page, count: 1 }
    }

    /// The first `count` of them, and the others if there are any.
    #[must_use]
    pub fn split(self, count: u32) -> (Self, Option<Self>) {
        let rest = Self { first: PageId(self.first.0 + count), count: self.count.saturating_sub(count) };
        (Self { count: count.min(self.count), ..self }, Some(rest).filter(|rest| rest.count > 0))
    }

    /// Whether a page is one of them.
    #[must_use]
    pub const fn contains(self, page: PageId) -> bool {
        page.0 >= self.first.0 && page.0 - self.first.0 < self.count
    }

    /// The pages in ascending order.
    pub fn iter(self) -> impl Iterator<Item = PageId> {
        (self.first.0..self.first.0 + self.count).map(PageId)
    }
}

/// How a processor touches a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// A load.
    Read,
    /// A store or an atomic.
    Write,
}
