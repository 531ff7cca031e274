//! From an event to the plans for it: asks strategies, has mechanisms carry out what they decide, closes plans.

use crate::context::{Charges, Context};
use crate::flight::{Flight, Pending};
use crate::mechanism::migrate::relocate;
use crate::mechanism::{self, unsubscribe::unsubscribe};
use crate::pages::Pages;
use crate::transaction::{Draft, NoRoom, Transaction};
use crate::{
    Access, AccessCount, BlockMap, Cause, CounterNotification, Decision, Fault, HOST, Manager, Mode, PageId, PageRun,
    PageView, Placement, Plan, ProcessorId, ProcessorMask, Service, Step,
};

/// Plans whose step vectors are kept for reuse, at most.
const SPARE_PLANS: usize = 1024;

impl Manager {
    /// Serves faults in order: each by a plan of its own, or those of one processor on one block together if the
    /// prefetcher wants to see them so.
    pub(crate) fn serve(&mut self, faults: &[Pending], plans: &mut Vec<Plan>) {
        if !self.prefetch.serves_blocks() {
            return faults.chunks(1).for_each(|fault| self.serve_together(fault, plans));
        }
        let part = |pages: &Pages, pending: &Pending| pages.extent(pending.fault.page);
        let mut rest = faults;
        while let Some(first) = rest.first() {
            let pages = &self.memory.pages;
            let same = rest.iter().take_while(|next| part(pages, next) == part(pages, first)).count();
            self.serve_block(&rest[..same], plans);
            rest = &rest[same..];
        }
    }

    /// Faults on one block of one allocation: one service for each processor, in the order of their first faults. A batch sorted by page
    /// mixes the processors.
    fn serve_block(&mut self, faults: &[Pending], plans: &mut Vec<Plan>) {
        let mut served = ProcessorMask::EMPTY;
        let mut service = std::mem::take(&mut self.scratch.service);
        for first in faults {
            let processor = first.fault.processor;
            if !served.contains(processor) {
                served = served.with(processor);
                service.clear();
                service.extend(faults.iter().filter(|pending| pending.fault.processor == processor));
                self.serve_together(&service, plans);
            }
        }
        self.scratch.service = service;
    }

    fn serve_together(&mut self, faults: &[Pending], plans: &mut Vec<Plan>) {
        let mut draft = self.open();
        let mut migrated = BlockMap::EMPTY;
        for &pending in faults {
            if self.serve_one(pending, &mut draft) {
                let page = pending.fault.page;
                migrated.insert(page.0 - self.memory.pages.block(page).first.0);
            }
        }
        if !migrated.is_empty() && self.prefetch.serves_blocks() {
            self.bring_more(&faults[0].fault, migrated, &mut draft);
        }
        self.commit(draft, plans);
    }

    /// Adds to `draft` what has to be done about one fault, or has it wait. Whether its page moved to the processor.
    fn serve_one(&mut self, pending: Pending, draft: &mut Draft) -> bool {
        let fault = pending.fault;
        let pages = &self.memory.pages;
        assert!(fault.processor.index() < pages.geometry().processors(), "{} is not in the node", fault.processor);
        assert!(pages.allocated(fault.page), "fault on page {}, which is not allocated", fault.page.0);
        if let Some(slot) = pages.slot(fault.page) {
            self.wait(slot, pending, draft);
            return false;
        }
        let before = pages.state(fault.page);
        if before.satisfies(&fault) {
            self.memory.statistics.stale_faults += 1;
            draft.charge(pending.decided.map(|(_, charges)| charges).unwrap_or_default());
            draft.wake(fault);
            return false;
        }
        let (decision, charges) = pending.decided.unwrap_or_else(|| self.decide(&fault));
        let mut tx = Transaction { memory: &mut self.memory, draft };
        match mechanism::serve(&mut tx, &fault, decision) {
            Ok(cause) => {
                draft.cause.get_or_insert(cause);
                draft.charge(charges);
                draft.wake(fault);
                let after = self.memory.pages.state(fault.page);
                before.owner != fault.processor && after.owner == fault.processor && !after.replicated()
            }
            Err(NoRoom) => {
                self.memory.statistics.faults_without_room += 1;
                let starved = Pending { fault, decided: Some((decision, charges)) };
                self.starved[fault.processor.index()].push_back(starved);
                false
            }
        }
    }

    fn wait(&mut self, slot: u32, pending: Pending, draft: &mut Draft) {
        self.memory.statistics.faults_on_busy_pages += 1;
        if slot == draft.slot {
            draft.flight.waiting.push(pending);
        } else {
            self.flights.wait(slot, pending);
        }
    }

    fn decide(&mut self, fault: &Fault) -> (Decision, Charges) {
        let view = self.memory.pages.view(fault.page);
        let statistics = &mut self.memory.statistics;
        let protection = fault.access == Access::Write && view.mapped.contains(fault.processor);
        statistics.protection_faults += u64::from(protection);
        statistics.far_faults += u64::from(!protection);
        statistics.cold_faults += u64::from(self.memory.pages.touch(fault));
        self.ask_placement(|placement, context| placement.on_fault(fault, &view, context))
    }

    /// Calls the placement strategy; what it answers and the metadata accesses it charged.
    pub(crate) fn ask_placement<T>(
        &mut self,
        ask: impl FnOnce(&mut dyn Placement, &mut Context<'_>) -> T,
    ) -> (T, Charges) {
        let mut charges = Charges::default();
        let memory = &mut self.memory;
        let mut context = Context {
            pages: &mut memory.pages,
            frames: &memory.frames,
            statistics: &mut memory.statistics,
            charges: &mut charges,
        };
        let answer = ask(self.placement.as_mut(), &mut context);
        (answer, charges)
    }

    /// Asks the prefetcher, and brings those pages of the block that can and may come.
    fn bring_more(&mut self, fault: &Fault, faulted: BlockMap, draft: &mut Draft) {
        let pages = &self.memory.pages;
        let (block, extent) = (pages.block(fault.page), pages.extent(fault.page));
        let resident = pages.resident_in_block(fault.processor, fault.page);
        let service = Service { destination: fault.processor, block, extent, faulted, resident };
        let wanted = self.prefetch.pages(&service).without(&resident);
        let mut list = std::mem::take(&mut self.scratch.pages);
        list.clear();
        let pages = wanted.iter().map(|index| PageId(block.first.0 + index));
        list.extend(pages.filter(|&page| {
            let view = self.memory.pages.view(page);
            movable(&view, fault.processor) && self.placement.may_prefetch(&view)
        }));
        let mut tx = Transaction { memory: &mut self.memory, draft };
        move_all(&mut tx, &list, fault.processor, Cause::Prefetch);
        self.scratch.pages = list;
    }

    /// A hardware counter fired. Whatever comes of it, the counters are cleared, so that they can fire again.
    pub(crate) fn counter(&mut self, notification: &CounterNotification, plans: &mut Vec<Plan>) {
        let view = self.memory.pages.view(notification.page);
        assert!(view.allocated, "counter of page {}, which is not allocated", notification.page.0);
        let mut draft = self.open();
        if !view.busy && !view.resident.contains(notification.processor) {
            let ask = |placement: &mut dyn Placement, context: &mut Context<'_>| {
                placement.on_counter(notification, &view, context)
            };
            let (run, charges) = self.ask_placement(ask);
            draft.charge(charges);
            self.move_run(run, notification.processor, &mut draft);
        }
        self.memory.statistics.counters_ignored += u64::from(draft.steps.is_empty());
        let group = self.geometry().counter_group_pages();
        let cleared = PageRun { first: PageId(notification.page.0 / group * group), count: group };
        draft.steps.push(Step::ClearCounters { pages: cleared });
        draft.flight.counters = Some(cleared);
        self.commit(draft, plans);
    }

    fn move_run(&mut self, run: Option<PageRun>, to: ProcessorId, draft: &mut Draft) {
        let mut list = std::mem::take(&mut self.scratch.pages);
        list.clear();
        list.extend(run.into_iter().flat_map(PageRun::iter).filter(|&page| movable(&self.page(page), to)));
        let mut tx = Transaction { memory: &mut self.memory, draft };
        let moved = move_all(&mut tx, &list, to, Cause::Migration);
        self.memory.statistics.counter_migrations += u64::from(moved);
        self.scratch.pages = list;
    }

    /// A periodic report; what the strategy moves becomes one plan.
    pub(crate) fn report(&mut self, counts: &[AccessCount], plans: &mut Vec<Plan>) {
        let mut moves = std::mem::take(&mut self.scratch.moves);
        moves.clear();
        let ((), charges) = self.ask_placement(|placement, context| placement.on_report(counts, context, &mut moves));
        let mut draft = self.open();
        draft.charge(charges);
        for request in &moves {
            if movable(&self.page(request.page), request.to) {
                let mut tx = Transaction { memory: &mut self.memory, draft: &mut draft };
                let moved = move_all(&mut tx, &[request.page], request.to, Cause::Migration);
                self.memory.statistics.report_migrations += u64::from(moved);
            }
        }
        self.commit(draft, plans);
        self.scratch.moves = moves;
    }

    /// A kernel ended; what the strategy gives up becomes one plan.
    pub(crate) fn kernel_end(&mut self, plans: &mut Vec<Plan>) {
        let mut given_up = std::mem::take(&mut self.scratch.given_up);
        given_up.clear();
        self.ask_placement(|placement, context| placement.on_kernel_end(context, &mut given_up));
        given_up.retain(|request| {
            let view = self.page(request.page);
            view.allocated && !view.busy && view.mode == Mode::Broadcast
        });
        let mut draft = self.open();
        let mut tx = Transaction { memory: &mut self.memory, draft: &mut draft };
        for alike in given_up.chunk_by(|one, next| one.processors == next.processors) {
            let list: Vec<PageId> = alike.iter().map(|request| request.page).collect();
            for_uniform_runs(&mut tx, &list, |tx, run| unsubscribe(tx, run, alike[0].processors));
        }
        self.commit(draft, plans);
        self.scratch.given_up = given_up;
    }

    /// Evicts what no longer fits since a capacity changed.
    pub(crate) fn shrink(&mut self, plans: &mut Vec<Plan>) {
        for index in 1..self.geometry().processors() {
            let processor = ProcessorId(index as u8);
            let excess = self.memory.frames.excess(processor);
            if excess > 0 {
                let mut draft = self.open();
                draft.cause = Some(Cause::Eviction);
                let mut tx = Transaction { memory: &mut self.memory, draft: &mut draft };
                // What is busy now leaves when it is acknowledged.
                let _all_or_some = tx.evict(processor, excess, false);
                self.commit(draft, plans);
            }
        }
    }

    /// Serves the faults that waited for room, as long as there is some.
    pub(crate) fn retry_starved(&mut self, plans: &mut Vec<Plan>) {
        for index in 0..self.starved.len() {
            while let Some(pending) = self.starved[index].pop_front() {
                let others = self.starved[index].len();
                self.serve(&[pending], plans);
                if self.starved[index].len() > others {
                    self.starved[index].rotate_right(1);
                    break;
                }
            }
        }
    }

    pub(crate) fn open(&mut self) -> Draft {
        let (slot, flight) = self.flights.open();
        let steps = self.scratch.steps.pop().unwrap_or_default();
        Draft { slot, flight, steps, charges: Charges::default(), cause: None }
    }

    /// Closes a draft: it becomes a plan, unless there is nothing to do.
    pub(crate) fn commit(&mut self, draft: Draft, plans: &mut Vec<Plan>) {
        if draft.is_empty() {
            self.flights.close(draft.slot, draft.flight);
            self.recycle_steps(draft.steps);
            return;
        }
        let Draft { slot, flight, mut steps, charges, cause } = draft;
        wake(&flight.faults, &mut steps);
        self.memory.frames.begin(&flight.change);
        let id = self.flights.launch(slot, flight);
        plans.push(Plan {
            id,
            cause: cause.unwrap_or(Cause::Migration),
            metadata_accesses: charges.metadata,
            overlapped_accesses: charges.overlapped,
            steps,
        });
    }

    pub(crate) fn roll_back(&mut self, flight: &Flight) {
        self.memory.frames.fail(&flight.change);
        for (page, before) in flight.undo.iter().rev() {
            let now = self.memory.pages.state(*page);
            self.memory.pages.set_state(*page, before);
            self.memory.pages.set_slot(*page, None);
            let back = before.resident.difference(now.resident).without(HOST);
            back.iter().for_each(|processor| self.memory.eviction.restored(processor, *page));
        }
    }

    pub(crate) fn recycle_steps(&mut self, mut steps: Vec<Step>) {
        if self.scratch.steps.len() < SPARE_PLANS {
            steps.clear();
            self.scratch.steps.push(steps);
        }
    }
}

/// Whether a page can go to `to` as a whole: it has one copy, elsewhere, and no plan holds it.
fn movable(page: &PageView, to: ProcessorId) -> bool {
    page.allocated && !page.busy && page.mode == Mode::Plain && !page.replicated() && page.owner != to
}

/// Moves pages, ascending, as long as there is room; how many moved. An eviction for the first of them may have
/// claimed others, which then stay where they are put.
fn move_all(tx: &mut Transaction<'_>, pages: &[PageId], to: ProcessorId, cause: Cause) -> u32 {
    let mut moved = 0;
    for_uniform_runs(tx, pages, |tx, run| {
        if relocate(tx, run, to, cause).is_ok() {
            tx.draft.cause.get_or_insert(cause);
            moved += run.count;
        }
    });
    moved
}

fn for_uniform_runs(tx: &mut Transaction<'_>, pages: &[PageId], mut act: impl FnMut(&mut Transaction<'_>, PageRun)) {
    let mut rest = pages;
    while let Some(&first) = rest.first() {
        let run = tx.uniform_run(rest);
        if !tx.busy(first) {
            act(tx, run);
        }
        rest = &rest[run.count as usize..];
    }
}

/// One wake for neighbouring pages of a processor.
fn wake(faults: &[Fault], steps: &mut Vec<Step>) {
    let neighbours =
        |one: &Fault, next: &Fault| one.processor == next.processor && next.page.0 == one.page.0.wrapping_add(1);
    for run in faults.chunk_by(neighbours) {
        let pages = PageRun { first: run[0].page, count: run.len() as u32 };
        steps.push(Step::Wake { processor: run[0].processor, pages });
    }
}
