//! The executor for which every step is done at once: page tables and copies, and no time.

use std::collections::VecDeque;

use octavo_manager::{
    Access, Allocation, Fault, HOST, HOST_MEMORY, Manager, MappingMode, MemoryId, MemoryMask, PageId, PageRun,
    Permission, ProcessorId, ProcessorMask, Step,
};
use octavo_units::Time;

use crate::copies::Copies;
use crate::executor::{Begun, Executor, Ticket, Wake};
use crate::faults::{FaultId, Outstanding};

/// A page-table entry in two bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Entry(u16);

impl Entry {
    /// No mapping.
    pub const NONE: Self = Self(0);
    const VALID: u16 = 1 << 15;
    const WRITABLE: u16 = 1 << 14;
    const BROADCAST: u16 = 1 << 13;
    const TARGET: u16 = u8::MAX as u16;

    /// A mapping to the memory `target`.
    #[must_use]
    pub fn new(target: MemoryId, permission: Permission, mode: MappingMode) -> Self {
        let writable = if permission == Permission::ReadWrite { Self::WRITABLE } else { 0 };
        let broadcast = if mode == MappingMode::Broadcast { Self::BROADCAST } else { 0 };
        Self(Self::VALID | writable | broadcast | u16::from(target.0))
    }

    /// Whether there is a mapping.
    #[must_use]
    #[inline]
    pub fn is_mapped(self) -> bool {
        self.0 & Self::VALID != 0
    }

    /// Whether it lets stores through.
    #[must_use]
    #[inline]
    pub fn is_writable(self) -> bool {
        self.0 & Self::WRITABLE != 0
    }

    /// Whether stores also go to all other copies.
    #[must_use]
    #[inline]
    pub fn is_broadcast(self) -> bool {
        self.0 & Self::BROADCAST != 0
    }

    /// Whether it serves such an access.
    #[must_use]
    #[inline]
    pub fn allows(self, access: Access) -> bool {
        let needed = if access == Access::Write { Self::VALID | Self::WRITABLE } else { Self::VALID };
        self.0 & needed == needed
    }

    /// Which memory it leads to; means nothing without a mapping.
    #[must_use]
    #[inline]
    pub fn target(self) -> MemoryId {
        MemoryId((self.0 & Self::TARGET) as u8)
    }

    fn protected(self) -> Self {
        Self(self.0 & !Self::WRITABLE)
    }
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.is_mapped() {
            return f.write_str("none");
        }
        let rights = if self.is_writable() { "rw" } else { "ro" };
        write!(f, "{} {rights}{}", self.target(), if self.is_broadcast() { " broadcast" } else { "" })
    }
}

/// Page tables of all processors and copies of all pages; two bytes a page and processor, four a page (of
/// 25 GPUs and more eight, …).
///
/// Sizes of pages, drains and counters are no part of it: steps about them change nothing here.
pub struct Instant {
    /// By processor, then page.
    entries: Vec<Vec<Entry>>,
    copies: Copies,
    /// Faults that were woken and not yet taken.
    woken: VecDeque<Fault>,
    /// Faults that can never be served.
    killed: Vec<Fault>,
}

impl Instant {
    /// An executor for a node with this many GPUs, before any allocation.
    #[must_use]
    pub fn new(gpus: usize) -> Self {
        Self {
            entries: vec![Vec::new(); gpus + 1],
            copies: Copies::new(gpus),
            woken: VecDeque::new(),
            killed: Vec::new(),
        }
    }

    /// Pages come into being, unmapped, in host memory or not populated.
    pub fn allocate(&mut self, &Allocation { run, populated, .. }: &Allocation) {
        let end = (run.first.0 + run.count) as usize;
        if end > self.copies.pages() {
            self.copies.grow(end);
            self.entries.iter_mut().for_each(|table| table.resize(end, Entry::NONE));
        }
        for page in run.iter().filter(|_| populated) {
            self.copies.set(page, HOST_MEMORY, true);
        }
    }

    /// A new page that is on the host is in this memory of it.
    pub fn place(&mut self, page: PageId, memory: MemoryId) {
        self.copies.set(page, HOST_MEMORY, false);
        self.copies.set(page, memory, true);
    }

    /// What `processor` maps of `page`, which must have been allocated.
    #[must_use]
    #[inline]
    pub fn entry(&self, processor: ProcessorId, page: PageId) -> Entry {
        self.entries[processor.index()][page.index()]
    }

    /// Which memories hold `page`.
    #[must_use]
    pub fn copies(&self, page: PageId) -> MemoryMask {
        self.copies.of(page)
    }

    /// Pages that `memory` holds.
    #[must_use]
    pub fn held(&self, memory: MemoryId) -> u64 {
        self.copies.held(memory)
    }

    /// The oldest fault that was woken and not yet taken.
    pub fn take_woken(&mut self) -> Option<Fault> {
        self.woken.pop_front()
    }

    /// The faults that can never be served, oldest first.
    #[must_use]
    pub fn killed(&self) -> &[Fault] {
        &self.killed
    }

    /// An entry vanishes, as reclaim takes entries away behind a driver's back.
    pub fn take_entry_away(&mut self, processor: ProcessorId, page: PageId) {
        self.change(ProcessorMask::only(processor), PageRun::one(page), |_| Entry::NONE);
    }

    /// Does one step.
    pub fn apply(&mut self, step: &Step) {
        match *step {
            Step::Invalidate { processors, pages } => self.change(processors, pages, |_| Entry::NONE),
            Step::Protect { processors, pages } => self.change(processors, pages, Entry::protected),
            Step::Map { processors, pages, target, permission, mode } => {
                for processor in processors.iter() {
                    let entry = Entry::new(target.unwrap_or(processor.memory()), permission, mode);
                    self.change(ProcessorMask::only(processor), pages, |_| entry);
                }
            }
            Step::Populate { memory, pages, .. } => pages.iter().for_each(|page| self.copies.set(page, memory, true)),
            Step::Copy { pages, to, .. } => pages.iter().for_each(|page| self.copies.set(page, to, true)),
            Step::Release { memory, pages } => {
                pages.iter().for_each(|page| self.copies.set(page, memory, false));
            }
            Step::Consult { .. }
            | Step::Drain { .. }
            | Step::Coalesce { .. }
            | Step::Splinter { .. }
            | Step::Compact { .. } => {}
            Step::ClearCounters { .. } | Step::Wake { .. } => {}
        }
    }

    fn change(&mut self, processors: ProcessorMask, pages: PageRun, edit: impl Fn(Entry) -> Entry) {
        let pages = pages.first.index()..(pages.first.0 + pages.count) as usize;
        for processor in processors.iter() {
            self.entries[processor.index()][pages.clone()].iter_mut().for_each(|entry| *entry = edit(*entry));
        }
    }
}

impl Executor for Instant {
    fn begin(&mut self, _now: Time, _ticket: Ticket, left: &[Step]) -> Begun {
        let steps = left.iter().take_while(|step| !matches!(step, Step::Wake { .. }));
        Begun::Done(steps.map(|step| self.apply(step)).count() as u32)
    }

    fn wake(&mut self, _now: Time, _id: FaultId, fault: &Outstanding) -> Wake {
        self.woken.push_back(fault.fault());
        Wake::Arrived
    }

    fn kill(&mut self, _now: Time, _id: FaultId, fault: &Outstanding) {
        self.killed.push(fault.fault());
    }

    fn free(&mut self, _now: Time, run: PageRun, _token: u64, _manager: &Manager) {
        let everyone = ProcessorMask::all_gpus(self.entries.len() - 1).with(HOST);
        self.change(everyone, run, |_| Entry::NONE);
        for page in run.iter() {
            self.copies(page).iter().for_each(|memory| self.copies.set(page, memory, false));
        }
    }
}

#[cfg(test)]
mod tests {
    use octavo_manager::MAX_MEMORIES;

    use super::*;

    #[test]
    fn an_entry_says_what_was_put_in() {
        for target in 0..MAX_MEMORIES as u8 {
            for (permission, mode) in [
                (Permission::ReadOnly, MappingMode::Direct),
                (Permission::ReadWrite, MappingMode::Direct),
                (Permission::ReadOnly, MappingMode::Broadcast),
                (Permission::ReadWrite, MappingMode::Broadcast),
            ] {
                let entry = Entry::new(MemoryId(target), permission, mode);
                let writable = permission == Permission::ReadWrite;
                assert_eq!(entry.target(), MemoryId(target));
                assert_eq!((entry.is_mapped(), entry.is_writable()), (true, writable));
                assert_eq!(entry.is_broadcast(), mode == MappingMode::Broadcast);
                assert_eq!([Access::Read, Access::Write].map(|access| entry.allows(access)), [true, writable]);
                assert!(!entry.protected().allows(Access::Write) && entry.protected().allows(Access::Read));
            }
        }
        assert!(!Entry::NONE.allows(Access::Read));
    }
}
