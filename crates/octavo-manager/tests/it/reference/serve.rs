//! Faults are served: one by one, or block by block where a prefetcher wants to see them together.

use std::collections::BTreeSet;
use std::ops::Range;

use octavo_manager::{HOST, ProcessorId, ProcessorMask};

use super::decide::{Action, Verdict};
use super::fights::Hint;
use super::flight::Pending;
use super::guard::Told;
use super::kinds::settles;
use super::model::Model;
use super::page::Page;
use super::prefetch::Block;
use super::rules::{Placement, Prefetch};

impl Model {
    pub(super) fn serve(&mut self, mut batch: Vec<Pending>) {
        while let Some(first) = batch.first() {
            let prefetches = self.rules.prefetch != Prefetch::Nothing;
            let together = if prefetches { self.together(first, &batch) } else { 1 };
            let service: Vec<_> = batch.drain(..together).collect();
            let mut processors: Vec<ProcessorId> = Vec::new();
            for pending in &service {
                if !processors.contains(&pending.fault.processor) {
                    processors.push(pending.fault.processor);
                }
            }
            for processor in processors {
                let own = service.iter().filter(|pending| pending.fault.processor == processor);
                self.serve_together(processor, own.copied().collect());
            }
        }
    }

    /// How many faults at the front of the batch are on one block of one allocation.
    fn together(&self, first: &Pending, batch: &[Pending]) -> usize {
        let extent = self.extent(first.page());
        batch.iter().take_while(|pending| extent.contains(&pending.page())).count()
    }

    /// The part of a page's block that belongs to its allocation.
    pub(super) fn extent(&self, page: u32) -> Range<u32> {
        let block = page - page % self.rules.block_pages();
        let end = block + self.rules.block_pages();
        let allocation = self.allocations.iter().find(|allocation| allocation.contains(&page));
        let allocation = allocation.expect("it is allocated");
        allocation.start.max(block)..allocation.end.min(end)
    }

    /// A fault is counted when it is served at last, not while it waits.
    fn count(&mut self, pending: &Pending) {
        if self.touched.insert(pending.page()) {
            self.counts.cold_faults += 1;
        }
        if self.pages[&pending.page()].mapped().contains(pending.fault.processor) {
            self.counts.protection_faults += 1;
        } else {
            self.counts.far_faults += 1;
        }
    }

    fn serve_together(&mut self, processor: ProcessorId, service: Vec<Pending>) {
        let mut flight = self.open_flight();
        let mut migrated = BTreeSet::new();
        let refused = service.iter().filter(|pending| self.refused.remove(&(processor, pending.page()))).count();
        for pending in service {
            let before = self.pages[&pending.page()].holds(processor);
            let owned = self.pages[&pending.page()].owner == processor;
            self.serve_one(flight, pending);
            let after = &self.pages[&pending.page()];
            if !(before && owned) && after.populated && after.owner == processor && !after.replicated() {
                migrated.insert(pending.page());
            }
        }
        if self.rules.prefetch != Prefetch::Nothing
            && refused == 0
            && let Some(&page) = migrated.first()
            && self.is_managed(page)
        {
            if self.rules.own_plan {
                self.close(flight);
                flight = self.open_flight();
            }
            migrated.retain(|&page| !self.keeps(page));
            // What faults at no cost brings nothing that has one.
            let is_free = matches!(self.placement(page), Placement::Interleaved(_));
            if !migrated.is_empty() && !is_free {
                self.prefetch(flight, processor, &migrated, self.extent(page));
            }
        }
        self.close(flight);
    }

    fn serve_one(&mut self, flight: u64, mut pending: Pending) {
        let page = pending.page();
        if let Some(busy) = self.flights.values_mut().find(|flight| flight.keeps_busy(page)) {
            busy.waiting.push(pending);
            return;
        }
        let (state, processor) = (&self.pages[&page], pending.fault.processor);
        let allowed = if pending.writes() { state.writable() } else { state.mapped() };
        if allowed.contains(processor) {
            self.counts.stale_faults += 1;
            return;
        }
        let verdict = match pending.verdict {
            Some(verdict) => verdict,
            None => match self.hint(&pending) {
                Hint::Throttle(until) => return self.throttle(pending, until),
                Hint::Pin(at, fighters) => {
                    self.count(&pending);
                    Verdict::Pin(at.processor(), fighters)
                }
                Hint::Pass => {
                    self.count(&pending);
                    self.decide(flight, &pending)
                }
            },
        };
        pending.verdict = Some(verdict);
        let action = self.action(verdict, &pending);
        self.let_wait(!pending.compacted);
        let done = self.act(flight, pending, action);
        let wanted = self.wanted_large_frame();
        if done {
            if let Verdict::Pin(place, fighters) = verdict
                && (processor != HOST || place == HOST)
            {
                self.map_fighters(flight, page, fighters);
            }
        } else if let Some(gpu) = wanted {
            let waits = Pending { compacted: true, ..pending };
            self.wait_for_compaction(gpu, waits).into_iter().for_each(|pending| self.serve_one(flight, pending));
        } else {
            self.starved.entry(processor).or_default().push_back(pending);
        }
    }

    pub(super) fn act(&mut self, flight: u64, pending: Pending, action: Action) -> bool {
        let (page, processor, gpus) = (pending.page(), pending.fault.processor, self.rules.gpus());
        let (from_host, held) = (self.on_host(page), self.pages[&page].holds(processor));
        let done = self.change(flight, page, |state| apply(state, action, processor, gpus));
        if done {
            self.use_copies(page, action, processor);
            match action {
                Action::Migrate => self.flight(flight).told.push(Told::Moved(vec![page], processor)),
                Action::MoveTo(place) => self.flight(flight).told.push(Told::Moved(vec![page], place)),
                Action::Collapse | Action::Duplicate | Action::Subscribe if !held => {
                    self.flight(flight).told.push(Told::Overruled(vec![page]));
                }
                _ => {}
            }
            if settles(action) {
                self.map_accessors(flight, page);
            }
            let remote = self.pages[&page].owner != processor;
            let counts = &mut self.counts;
            match action {
                Action::Migrate | Action::Recall => counts.migrations += 1,
                Action::PopulateEverywhere => counts.populated += 1,
                Action::Populate(_) => {
                    counts.populated += 1;
                    counts.remote_maps += u64::from(remote);
                }
                Action::MoveTo(_) => {
                    counts.migrations += 1;
                    counts.remote_maps += u64::from(remote);
                }
                Action::Everywhere => counts.migrations += u64::from(from_host),
                Action::Collapse => counts.collapses += 1,
                Action::Duplicate => counts.duplications += u64::from(!held),
                Action::Subscribe => counts.duplications += u64::from(!held),
                Action::Map => counts.remote_maps += u64::from(remote && !held),
                Action::LeaveDuplication => {
                    counts.replicas_left += 1;
                    counts.remote_maps += u64::from(remote);
                }
            }
        }
        done
    }

    /// A service is a use of the copy that serves the toucher afterwards, and of the one that a replica is made of; a
    /// processor that subscribes or maps its own copy again uses no other copy.
    fn use_copies(&mut self, page: u32, action: Action, toucher: ProcessorId) {
        let state = &self.pages[&page];
        let alone = matches!(action, Action::Subscribe | Action::Map) && state.fills(toucher);
        let users = if alone { vec![toucher] } else { vec![toucher, state.owner] };
        let gpus: Vec<ProcessorId> = users.into_iter().filter(|&user| user != HOST && state.fills(user)).collect();
        gpus.into_iter().for_each(|gpu| self.order(page).used(gpu, page));
    }

    fn prefetch(&mut self, flight: u64, to: ProcessorId, faulted: &BTreeSet<u32>, extent: Range<u32>) {
        let block = extent.start - extent.start % self.rules.block_pages();
        let resident = extent.clone().filter(|page| self.pages[page].holds(to)).map(|page| page - block).collect();
        let contested = extent.clone().filter(|&page| self.keeps(page)).map(|page| page - block).collect();
        let faulted = faulted.iter().map(|page| page - block).collect();
        let extent = extent.start - block..extent.end - block;
        let wanted = self.wanted(&Block { faulted, resident, contested, extent, big: self.rules.big_page() });
        let coming = wanted.iter().map(|page| page + block).filter(|page| self.comes_along(*page, to));
        let coming: Vec<u32> = coming.collect();
        self.counts.prefetched += self.move_together(flight, &coming, to);
    }

    /// Faults that found no room try again, each processor's oldest first, until one still finds none.
    pub(super) fn retry_starved(&mut self) {
        for processor in ProcessorMask::all_gpus(self.rules.gpus()).iter() {
            let mut queue = self.starved.remove(&processor).unwrap_or_default();
            while let Some(pending) = queue.pop_front() {
                self.serve(vec![pending]);
                if self.starved.get(&processor).is_some_and(|again| !again.is_empty()) {
                    break;
                }
            }
            self.starved.entry(processor).or_default().extend(queue);
        }
    }
}

fn apply(state: &mut Page, action: Action, processor: ProcessorId, gpus: usize) {
    match action {
        Action::Migrate | Action::Collapse => state.move_to(processor),
        Action::Subscribe => state.subscribe(processor),
        Action::MoveTo(place) | Action::Populate(place) => {
            state.move_to(place);
            state.map(processor);
        }
        Action::Recall => {
            state.move_to(processor);
            state.everywhere = false;
        }
        Action::Map => state.map(processor),
        Action::Duplicate => state.replicate(processor),
        Action::LeaveDuplication => {
            state.drop_replicas();
            state.map(processor);
        }
        Action::Everywhere | Action::PopulateEverywhere => {
            if state.owner == HOST {
                state.move_to(processor);
            }
            state.everywhere = true;
            ProcessorMask::all_gpus(gpus).iter().for_each(|gpu| state.map(gpu));
        }
    }
}
