//! The executor for which every step is done at once: page tables and copies, and no time.

use std::collections::VecDeque;

use octavo_manager::{
    Access, Allocation, Fault, HOST_MEMORY, MAX_MEMORIES, Manager, MappingMode, MemoryId, MemoryMask, PageId, PageRun,
    Permission, ProcessorId, ProcessorMask, Step,
};
use octavo_units::Time;

use crate::executor::{Begun, Executor, Ticket, Wake};
use crate::faults::{FaultId, Outstanding};

/// A page-table entry in one byte.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Entry(u8);

impl Entry {
    /// No mapping.
    pub const NONE: Self = Self(0);
    const VALID: u8 = 1 << 7;
    const WRITABLE: u8 = 1 << 6;
    const BROADCAST: u8 = 1 << 5;
    const TARGET: u8 = Self::BROADCAST - 1;

    /// A mapping to the memory `target`.
    #[must_use]
    pub fn new(target: MemoryId, permission: Permission, mode: MappingMode) -> Self {
        let writable = if permission == Permission::ReadWrite { Self::WRITABLE } else { 0 };
        let broadcast = if mode == MappingMode::Broadcast { Self::BROADCAST } else { 0 };
        Self(Self::VALID | writable | broadcast | target.0)
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
        MemoryId(self.0 & Self::TARGET)
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

/// Page tables of all processors and copies of all pages; one byte a page and processor, four a page.
///
/// Sizes of pages, drains and counters are no part of it: steps about them change nothing here.
pub struct Instant {
    /// By processor, then page.
    entries: Vec<Vec<Entry>>,
    /// Which memories hold each page.
    copies: Vec<MemoryMask>,
    /// Pages that each memory holds.
    held: Vec<u64>,
    /// Faults that were woken and not yet taken.
    woken: VecDeque<Fault>,
    /// Faults that can never be served.
    killed: Vec<Fault>,
}

impl Instant {
    /// Of a node with so many GPUs, before any allocation.
    #[must_use]
    pub fn new(gpus: usize) -> Self {
        Self {
            entries: vec![Vec::new(); gpus + 1],
            copies: Vec::new(),
            held: vec![0; MAX_MEMORIES],
            woken: VecDeque::new(),
            killed: Vec::new(),
        }
    }

    /// Pages come into being, unmapped, in host memory or not populated.
    pub fn allocate(&mut self, &Allocation { run, populated, .. }: &Allocation) {
        let end = (run.first.0 + run.count) as usize;
        if end > self.copies.len() {
            self.copies.resize(end, MemoryMask::EMPTY);
            self.entries.iter_mut().for_each(|table| table.resize(end, Entry::NONE));
        }
        for page in run.iter().filter(|_| populated) {
            self.give(page, HOST_MEMORY);
        }
    }

    /// What `processor` maps of `page`, which was allocated once.
    #[must_use]
    #[inline]
    pub fn entry(&self, processor: ProcessorId, page: PageId) -> Entry {
        self.entries[processor.index()][page.index()]
    }

    /// Which memories hold `page`.
    #[must_use]
    pub fn copies(&self, page: PageId) -> MemoryMask {
        self.copies.get(page.index()).copied().unwrap_or_default()
    }

    /// Pages that `memory` holds.
    #[must_use]
    pub fn held(&self, memory: MemoryId) -> u64 {
        self.held[memory.index()]
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
            Step::Populate { memory, pages, .. } => pages.iter().for_each(|page| self.give(page, memory)),
            Step::Copy { pages, to, .. } => {
                pages.iter().for_each(|page| self.give(page, to));
            }
            Step::Release { memory, pages } => pages.iter().for_each(|page| self.take(page, memory)),
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

    fn give(&mut self, page: PageId, to: MemoryId) {
        let copies = &mut self.copies[page.index()];
        self.held[to.index()] += u64::from(!copies.contains(to));
        *copies = copies.with(to);
    }

    fn take(&mut self, page: PageId, from: MemoryId) {
        let copies = &mut self.copies[page.index()];
        self.held[from.index()] -= u64::from(copies.contains(from));
        *copies = copies.without(from);
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
        let everyone = ProcessorMask((1 << self.entries.len()) - 1);
        self.change(everyone, run, |_| Entry::NONE);
        for page in run.iter() {
            self.copies(page).iter().for_each(|memory| self.take(page, memory));
        }
    }
}

#[cfg(test)]
mod tests {
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
