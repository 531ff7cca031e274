//! Pieces come to where a launch needs them.

use std::collections::BTreeSet;

use octavo_manager::{Access, Accessed, Advice, Fault, MemoryId, PageId, PageRun, ProcessorId, UnderWay};
use octavo_units::Time;

use crate::error::TierError;
use crate::tier::{Buffer, TRIES, Tier};

impl Tier {
    /// Brings pages to a device. A device reaches what a mapped tier has no room for.
    pub(crate) fn bring(&mut self, place: usize, pages: &BTreeSet<PageId>) -> Result<(), TierError> {
        let (gpu, memory) = (ProcessorId::gpu(place), MemoryId::gpu(place));
        let (mut tries, mut before) = (0, usize::MAX);
        while tries < TRIES {
            self.hold(place, pages);
            let far = |page: &PageId| self.mover.entry(place, *page).is_some_and(|entry| entry.target != memory);
            let far: Vec<PageId> = pages.iter().copied().filter(far).collect();
            for page in far {
                self.driver.prefetch(self.now, PageRun::one(page), memory, &mut self.mover);
            }
            let missing: Vec<PageId> = pages.iter().copied().filter(|&page| !self.is_mapped(place, page)).collect();
            if missing.is_empty() {
                return self.mend();
            }
            tries = if missing.len() < before { 0 } else { tries + 1 };
            before = missing.len();
            let fault = |page| Fault { processor: gpu, page, access: Access::Write };
            let faults: Vec<Fault> = missing.into_iter().map(fault).collect();
            self.driver.faults(self.now, &faults, &mut self.mover);
            // A neighbour's pieces go once the host has them, and pieces that are being copied stay.
            while pages.iter().any(|&page| !self.is_mapped(place, page)) && self.end_copies() {}
            if self.driver.halted() {
                return Err(self.stop());
            }
        }
        let missing = pages.iter().copied().find(|&page| !self.is_mapped(place, page));
        let of = missing.and_then(|page| self.buffers.values().find(|buffer| buffer.run.contains(page)));
        let name = of.map_or_else(String::new, |buffer| buffer.name.clone());
        Err(TierError::NotThere { name, device: self.devices[place], why: self.why() })
    }

    fn is_mapped(&self, place: usize, page: PageId) -> bool {
        self.mover.entry(place, page).is_some()
    }

    /// What a launch uses and is there stays there while the rest comes.
    fn hold(&mut self, place: usize, pages: &BTreeSet<PageId>) {
        let (processor, until) = (ProcessorId::gpu(place), Time(self.now.0 + 1));
        let there = pages.iter().filter(|&&page| self.is_mapped(place, page));
        let held: Vec<UnderWay> = there.map(|&page| UnderWay { processor, page, until }).collect();
        self.driver.manager_mut().note_outstanding(&held);
    }

    /// A launch uses pages: others leave before them.
    pub(crate) fn note_use(&mut self, place: usize, pages: &BTreeSet<PageId>) {
        let processor = ProcessorId::gpu(place);
        let used = pages.iter().map(|&page| Accessed { processor, page, times: 1, stores: true });
        self.driver.manager_mut().note_accesses(&used.collect::<Vec<_>>());
    }

    /// From now on, a device can access a buffer of a mapped tier wherever it is.
    pub(crate) fn reach(&mut self, place: usize, buffer: u64) {
        let gpu = ProcessorId::gpu(place);
        if let Some(buffer) = self.buffers.get_mut(&buffer).filter(|buffer| !buffer.reach.contains(gpu)) {
            buffer.reach = buffer.reach.with(gpu);
            let advice = Advice { accessed_by: buffer.reach, ..Advice::default() };
            self.driver.advise(self.now, buffer.run, advice, &mut self.mover);
        }
    }

    /// In a mapped tier, devices that lost a mapping get it back: evictions leave it to one, and calls fail.
    pub(crate) fn mend(&mut self) -> Result<(), TierError> {
        if self.driver.halted() {
            return Err(self.stop());
        }
        for _ in 0..TRIES {
            let lost: Vec<Fault> = self.buffers.values().flat_map(|buffer| self.unmapped(buffer)).collect();
            if lost.is_empty() {
                break;
            }
            self.driver.faults(self.now, &lost, &mut self.mover);
        }
        Ok(())
    }

    /// What devices cannot access of a buffer, and should.
    fn unmapped(&self, buffer: &Buffer) -> Vec<Fault> {
        let lost = |processor: ProcessorId| {
            let place = processor.gpu_index().unwrap_or(0);
            let lost = move |page: &PageId| !self.is_mapped(place, *page) && self.mover.holders(*page).next().is_some();
            buffer.run.iter().filter(lost).map(move |page| Fault { processor, page, access: Access::Write })
        };
        buffer.reach.iter().flat_map(lost).collect()
    }
}
