//! Pages come into being and go.

use crate::contract::event::Allocation;
use crate::contract::failure::Failure;
use crate::contract::ids::{HOST_MEMORY, MemoryId, PageId, PageRun, SpaceId};
use crate::contract::page::{Mode, PageView};
use crate::contract::plan::Plan;
use crate::manager::Manager;
use crate::memories::frames::Change;
use crate::memories::usage::OutOfMemory;

impl Manager {
    pub(super) fn allocate(&mut self, allocation: &Allocation, plans: &mut Vec<Plan>) {
        let (run, gpus) = (allocation.run, self.gpus_of(allocation));
        self.memory.pages.allocate(allocation);
        let pages = self.memory.pages.len();
        self.tell_evictors(allocation.space, pages);
        self.memory.physical.iter_mut().for_each(|physical| physical.grow(pages));
        if allocation.populated && !allocation.kind.stays() {
            self.put_on_host(run, allocation.space);
        }
        self.splinter_reused(run, plans);
        let Some(decider) = self.memory.pages.decider(run.first) else {
            return self.lay_out(allocation, plans);
        };
        self.ask_placement(decider, |placement, context| match allocation.gpu {
            Some(gpu) => placement.on_allocate_on(run, gpu, context),
            None => placement.on_allocate_among(run, gpus, context),
        });
    }

    /// An address space has an evictor. A strategy that was made before and cannot be made again has failed.
    fn tell_evictors(&mut self, space: SpaceId, pages: usize) {
        if let Err(error) = self.memory.evictors.grow(space, pages) {
            let message = format!("the evictor of address space {} cannot be made: {error}", space.0);
            self.failure.get_or_insert_with(|| Box::new(Failure::of_nothing(message)));
        }
    }

    /// Pages that exist from their allocation on fill the host's memories in order.
    fn put_on_host(&mut self, run: PageRun, space: SpaceId) {
        let mut rest = Some(run);
        while let Some(run) = rest {
            let frames = &mut self.memory.frames;
            let Some((memory, count)) = frames.room_on_host(HOST_MEMORY, run.count, &Change::default()) else {
                let out = OutOfMemory { memory: HOST_MEMORY, page: run.first, space };
                self.out_of_memory.get_or_insert(out);
                return;
            };
            frames.hold(memory, count);
            let (part, beyond) = run.split(count);
            self.memory.pages.put(part, memory);
            rest = beyond;
        }
    }

    pub(super) fn free(&mut self, run: PageRun, plans: &mut Vec<Plan>) {
        let kind = self.memory.pages.kind(run.first);
        assert!(run.iter().all(|page| self.memory.pages.kind(page) == kind), "{run:?} is memory of several kinds");
        let decider = self.memory.pages.decider(run.first);
        if let Some(decider) = decider {
            self.ask_placement(decider, |placement, context| placement.on_free(run, context));
        }
        let space = self.memory.pages.space(run.first);
        let thinned = self.large_pages(run);
        self.memory.pages.split(run);
        for page in run.iter() {
            self.free_page(page);
        }
        self.memory.pages.deallocate(run);
        if decider.is_some() {
            let prefetch = self.policies.brings(kind, || space);
            self.policies.prefetcher(prefetch).freed(run);
        }
        self.memory.guard.iter_mut().for_each(|guard| guard.freed(run));
        self.forget_frameless(run);
        let pages = &self.memory.pages;
        self.delayed.keep(|pending| pages.allocated(pending.fault.page));
        for waiting in &mut self.starved {
            waiting.retain(|pending| pages.allocated(pending.fault.page));
        }
        self.unfinished.flights.keep_waiting(|pending| pages.allocated(pending.fault.page));
        self.refused.retain(|(_, page)| pages.allocated(*page));
        self.thin_out(&thinned, plans);
        if let Some(physical) = &mut self.memory.physical {
            physical.unsettle(run);
            physical.give_back(space);
        }
        self.retry_starved(plans);
    }

    fn free_page(&mut self, page: PageId) {
        let view = self.memory.pages.view(page);
        assert!(view.allocated, "page {} is freed but not allocated", page.0);
        assert!(!view.busy, "page {} is freed in the middle of a plan", page.0);
        if view.mode != Mode::Everywhere {
            for holder in view.resident.iter() {
                self.free_frame(holder, &view);
            }
        }
        self.memory.pages.forget(page);
    }

    fn free_frame(&mut self, holder: MemoryId, view: &PageView) {
        let memory = &mut self.memory;
        if memory.frames.counts(holder) {
            memory.frames.free(holder);
        }
        if view.kind.stays() {
            memory.frames.stays_no_more(holder);
        }
        if let Some(physical) = memory.physical.as_mut().filter(|_| !holder.on_host()) {
            physical.free(holder.processor(), view.page);
        }
    }
}
