//! Names of processors and pages, and sets of them.

use std::fmt;

/// Most processors in a node: the host and sixteen GPUs.
pub const MAX_PROCESSORS: usize = 17;

/// A processor: the host (0) or a GPU (1, 2, …).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessorId(pub u8);

/// The host: the CPU and its memory.
pub const HOST: ProcessorId = ProcessorId(0);

impl ProcessorId {
    /// The GPU numbered `index` from zero.
    ///
    /// # Panics
    /// If `index` is not below 16.
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

/// A set of processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProcessorMask(pub u32);

impl ProcessorMask {
    /// No processor.
    pub const EMPTY: Self = Self(0);

    /// The set of one processor.
    #[must_use]
    pub const fn only(processor: ProcessorId) -> Self {
        Self(1 << processor.0)
    }

    /// All GPUs of a node that has `gpus` of them.
    #[must_use]
    pub const fn all_gpus(gpus: usize) -> Self {
        Self(((1 << gpus) - 1) << 1)
    }

    /// Whether `processor` is in the set.
    #[must_use]
    pub const fn contains(self, processor: ProcessorId) -> bool {
        self.0 & (1 << processor.0) != 0
    }

    /// The set with `processor`.
    #[must_use]
    pub const fn with(self, processor: ProcessorId) -> Self {
        Self(self.0 | 1 << processor.0)
    }

    /// The set without `processor`.
    #[must_use]
    pub const fn without(self, processor: ProcessorId) -> Self {
        Self(self.0 & !(1 << processor.0))
    }

    /// Processors in either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Processors in both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Processors of this set that are not in `other`.
    #[must_use]
    pub const fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether no processor is in the set.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many processors are in the set.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The processor with the lowest number, if any.
    #[must_use]
    pub fn first(self) -> Option<ProcessorId> {
        self.iter().next()
    }

    /// The processors in ascending order.
    pub fn iter(self) -> impl Iterator<Item = ProcessorId> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            if rest == 0 {
                return None;
            }
            let lowest = rest.trailing_zeros();
            rest &= rest - 1;
            Some(ProcessorId(lowest as u8))
        })
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
    /// How many, at least one.
    pub count: u32,
}

impl PageRun {
    /// A run of one page.
    #[must_use]
    pub const fn one(page: PageId) -> Self {
        Self { first: page, count: 1 }
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
