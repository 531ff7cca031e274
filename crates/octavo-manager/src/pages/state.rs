//! The place of a page and the processors that can reach it.

use crate::contract::event::Fault;
use crate::contract::ids::{Access, HOST, HOST_MEMORY, MemoryId};
use crate::contract::masks::{MemoryMask, ProcessorMask};
use crate::contract::page::Mode;
use crate::contract::plan::{Cause, Permission};

/// Where a page is and who can reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageState {
    pub owner: MemoryId,
    pub mode: Mode,
    pub resident: MemoryMask,
    pub mapped: ProcessorMask,
    pub writable: ProcessorMask,
}

impl PageState {
    /// Whether a memory holds the page; if not, it is untouched since it was allocated.
    pub fn populated(&self) -> bool {
        !self.resident.is_empty()
    }

    /// Whether more than one memory holds the page.
    pub fn replicated(&self) -> bool {
        self.resident.len() > 1
    }

    /// The memories of which the page takes up a frame.
    pub fn holders(&self) -> MemoryMask {
        if self.mode == Mode::Everywhere { MemoryMask::EMPTY } else { self.resident }
    }

    /// The GPUs' memories that it may be evicted from: not those that keep it for others.
    pub fn movable(&self) -> MemoryMask {
        if self.mode == Mode::Spare { MemoryMask::EMPTY } else { self.holders().gpus() }
    }

    /// Whether a GPU and the host hold the page, so that leaving the GPU's memory costs no copy.
    pub fn backed(&self) -> bool {
        self.resident.near(HOST) && self.replicated()
    }

    /// A memory gets a copy, which is the owner's from now on unless it is one more. If another GPU gave the page up,
    /// or it is staged here, the GPU keeps it for others.
    pub fn arrive(&mut self, to: MemoryId, cause: Cause) {
        self.resident = self.resident.with(to);
        if !cause.keeps_source() || cause == Cause::Staging {
            self.owner = to;
        }
        if matches!(cause, Cause::Eviction | Cause::Staging) && !to.on_host() {
            self.mode = Mode::Spare;
        }
    }

    /// A copy goes; if it was the owner's, another holder becomes the owner, a GPU rather than the host. A page that no
    /// GPU keeps for others any more is like any page on the host.
    pub fn give_up(&mut self, memory: MemoryId) {
        self.resident = self.resident.without(memory);
        if self.mode == Mode::Spare && self.resident.gpus().is_empty() {
            self.mode = Mode::Plain;
        }
        if self.owner == memory {
            self.owner = self.resident.gpus().first().or(self.resident.first()).unwrap_or(HOST_MEMORY);
        }
    }

    /// Processors can access the page from now on, so it is no longer kept for others.
    pub fn grant(&mut self, processors: ProcessorMask, rights: Permission) {
        if self.mode == Mode::Spare {
            self.mode = Mode::Plain;
        }
        self.mapped = self.mapped.union(processors);
        self.writable = match rights {
            Permission::ReadWrite => self.writable.union(processors),
            Permission::ReadOnly => self.writable.difference(processors),
        };
    }

    /// GPUs whose in-flight accesses must finish before the page changes hands: all that can write it, and the GPU that
    /// has the only copy.
    pub fn must_drain(&self) -> ProcessorMask {
        let writers = self.writable.without(HOST);
        if self.owner.on_host() || self.replicated() { writers } else { writers.with(self.owner.processor()) }
    }

    /// Whether `fault` would not happen now.
    pub fn satisfies(&self, fault: &Fault) -> bool {
        match fault.access {
            Access::Read => self.mapped.contains(fault.processor),
            Access::Write => self.writable.contains(fault.processor),
        }
    }
}
