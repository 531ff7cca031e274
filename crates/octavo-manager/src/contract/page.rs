//! The state of one page.

use crate::contract::ids::{HOST, MemoryId, PageId, SpaceId};
use crate::contract::kind::Kind;
use crate::contract::masks::{MemoryMask, ProcessorMask};

/// How the copies and mappings of a page relate to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// One copy that any processor may map, or several identical ones that are mapped read-only where they are.
    #[default]
    Plain,
    /// Several copies kept alike by broadcasting stores (GPS); writable where they are.
    Broadcast,
    /// Mapped as if local on every GPU, by decree: the `ideal` bound. One copy is kept; it takes up no room.
    Everywhere,
    /// A victim in the memory of a GPU that keeps it for others, until they fetch it back: one copy there, perhaps one
    /// on the host, and no processor maps it.
    Spare,
}

/// Everything the manager knows about a page, for strategies, tests and reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageView {
    /// Which page.
    pub page: PageId,
    /// Whether it is part of an allocation; if not, the rest means nothing.
    pub allocated: bool,
    /// The kind of memory that its program requested.
    pub kind: Kind,
    /// The address space of faults on it, and of counters about it.
    pub space: SpaceId,
    /// The memory with the copy that remote mappings point at and that is written back on eviction; the host's first
    /// for a page that is not [populated](Self::populated).
    pub owner: MemoryId,
    /// The memories that hold a copy.
    pub resident: MemoryMask,
    /// The processors that can access it without a far fault. A mapping leads to the processor's own copy if it has
    /// one, else to the owner's.
    pub mapped: ProcessorMask,
    /// Processors that can write it without a protection fault.
    pub writable: ProcessorMask,
    /// How its copies relate.
    pub mode: Mode,
    /// The placement's bits for it, to be [read](crate::Attribute::read) attribute by attribute.
    pub attributes: u8,
    /// Whether an unfinished plan names it.
    pub busy: bool,
    /// Whether a GPU ever faulted on it since it was allocated.
    pub touched: bool,
}

impl PageView {
    /// Whether a memory holds it: not if it is untouched since it was allocated.
    #[must_use]
    pub fn populated(&self) -> bool {
        !self.resident.is_empty()
    }

    /// Whether one of the host's memories has the owner's copy, or the page is still untouched.
    #[must_use]
    pub fn on_host(&self) -> bool {
        self.owner.on_host()
    }

    /// Whether the page is where no processor works on it: on the host, nowhere yet, or kept by a GPU for others. It
    /// has to be brought to a processor to be used.
    #[must_use]
    pub fn cold(&self) -> bool {
        self.on_host() || self.mode == Mode::Spare
    }

    /// Whether a GPU and the host hold the page, so that leaving the GPU's memory costs no copy. No store makes the
    /// host's copy stale: while there are several copies, no processor writes, or stores go to all of them.
    #[must_use]
    pub fn backed(&self) -> bool {
        self.resident.near(HOST) && self.replicated()
    }

    /// Whether more than one memory holds the page.
    #[must_use]
    pub fn replicated(&self) -> bool {
        self.resident.len() > 1
    }
}

#[cfg(test)]
impl PageView {
    /// A managed page whose only copy is on the host, and which no plan holds.
    pub(crate) fn on_the_host_alone() -> Self {
        Self {
            page: PageId(5),
            allocated: true,
            kind: Kind::Managed,
            space: SpaceId(0),
            owner: MemoryId::host(0),
            resident: MemoryMask::only(MemoryId::host(0)),
            mapped: ProcessorMask::EMPTY,
            writable: ProcessorMask::EMPTY,
            mode: Mode::Plain,
            attributes: 0,
            busy: false,
            touched: false,
        }
    }

    /// The same, with its only copy in the memory of a GPU.
    pub(crate) fn on_a_gpu_alone(gpu: usize) -> Self {
        let memory = MemoryId::gpu(gpu);
        Self { owner: memory, resident: MemoryMask::only(memory), ..Self::on_the_host_alone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_backed_if_a_gpu_and_the_host_have_it() {
        let (host, gpu) = (PageView::on_the_host_alone(), PageView::on_a_gpu_alone(0));
        let and = |other| PageView { resident: gpu.resident.with(other), ..gpu };
        assert!(and(MemoryId::host(0)).backed());
        for alone in [host, gpu, and(MemoryId::gpu(1))] {
            assert!(!alone.backed(), "{alone:?}");
        }
    }
}
