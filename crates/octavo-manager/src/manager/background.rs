//! What moves without a fault: access counters, reports, ends of kernels.

use crate::contract::event::{AccessCount, CounterNotification, KernelEnd};
use crate::contract::ids::{MemoryId, PageId, PageRun};
use crate::contract::kind::Kind;
use crate::contract::page::Mode;
use crate::contract::plan::{Cause, Plan, PlanClass, Step};
use crate::manager::Manager;
use crate::mechanism::{migrate, unsubscribe::unsubscribe};
use crate::strategies::context::Context;
use crate::strategies::decision::Move;
use crate::strategies::placement::Placement;
use crate::transaction::Transaction;
use crate::transaction::draft::Draft;

impl Manager {
    /// A hardware counter fired. Whatever comes of it, the counters are cleared, so that they can fire again.
    pub(super) fn counter(&mut self, notification: &CounterNotification, plans: &mut Vec<Plan>) {
        let view = self.memory.pages.view(notification.page);
        assert!(view.allocated, "counter of page {}, which is not allocated", notification.page.0);
        let mut draft = self.unfinished.open_for(PlanClass::Background);
        if !view.busy && view.kind == Kind::Managed && !view.resident.near(notification.processor) {
            let ask = |placement: &mut dyn Placement, context: &mut Context<'_>| {
                placement.on_counter(notification, &view, context)
            };
            let (run, charges) = self.ask_placement(Kind::Managed, ask);
            draft.charge(charges);
            self.move_run(run, notification.processor.memory(), &mut draft);
        }
        self.memory.statistics.counters_ignored += u64::from(draft.steps.is_empty());
        let group = self.geometry().counter_group_pages();
        let cleared = PageRun { first: PageId(notification.page.0 / group * group), count: group };
        draft.steps.push(Step::ClearCounters { pages: cleared });
        draft.flight.counters = Some(cleared);
        self.unfinished.commit(&mut self.memory, draft, plans);
    }

    fn move_run(&mut self, run: Option<PageRun>, to: MemoryId, draft: &mut Draft) {
        let mut list = std::mem::take(&mut self.scratch.pages);
        list.clear();
        list.extend(
            run.into_iter()
                .flat_map(PageRun::iter)
                .filter(|&page| migrate::movable(&self.page(page), to) && !self.memory.keeps(page)),
        );
        let mut tx = Transaction { memory: &mut self.memory, draft };
        let moved = migrate::move_all(&mut tx, &list, to, Cause::Migration);
        self.memory.statistics.counter_migrations += u64::from(moved);
        self.scratch.pages = list;
    }

    /// A periodic report; what the strategy moves becomes one plan.
    pub(super) fn report(&mut self, counts: &[AccessCount], plans: &mut Vec<Plan>) {
        let own: Vec<AccessCount>;
        let counts = if self.memory.pages.all_managed() {
            counts
        } else {
            let managed = |count: &&AccessCount| self.memory.pages.is_managed(count.page);
            own = counts.iter().filter(managed).copied().collect();
            &own
        };
        let moved = self.ask_for_moves(|placement, context, moves| placement.on_report(counts, context, moves), plans);
        self.memory.statistics.report_migrations += moved;
    }

    /// What the placement moves, when it is asked, becomes one plan; how many pages do.
    pub(super) fn ask_for_moves(
        &mut self,
        ask: impl FnOnce(&mut dyn Placement, &mut Context<'_>, &mut Vec<Move>),
        plans: &mut Vec<Plan>,
    ) -> u64 {
        let mut moves = std::mem::take(&mut self.scratch.moves);
        moves.clear();
        let ((), charges) = self.ask_placement(Kind::Managed, |placement, context| ask(placement, context, &mut moves));
        let mut draft = self.unfinished.open_for(PlanClass::Background);
        draft.charge(charges);
        let mut moved = 0;
        for request in &moves {
            if migrate::movable(&self.page(request.page), request.to) && !self.memory.keeps(request.page) {
                let mut tx = Transaction { memory: &mut self.memory, draft: &mut draft };
                moved += u64::from(migrate::move_all(&mut tx, &[request.page], request.to, Cause::Migration));
            }
        }
        self.unfinished.commit(&mut self.memory, draft, plans);
        self.scratch.moves = moves;
        moved
    }

    /// A kernel ended; what the strategy gives up becomes one plan.
    pub(super) fn kernel_end(&mut self, end: &KernelEnd, plans: &mut Vec<Plan>) {
        let mut given_up = std::mem::take(&mut self.scratch.given_up);
        given_up.clear();
        self.ask_placement(Kind::Managed, |placement, context| placement.on_kernel_end(end, context, &mut given_up));
        given_up.retain(|request| {
            let view = self.page(request.page);
            view.allocated && !view.busy && view.mode == Mode::Broadcast
        });
        let mut draft = self.unfinished.open_for(PlanClass::Background);
        let mut tx = Transaction { memory: &mut self.memory, draft: &mut draft };
        for alike in given_up.chunk_by(|one, next| one.memories == next.memories) {
            let list: Vec<PageId> = alike.iter().map(|request| request.page).collect();
            tx.each_uniform_run(&list, |tx, run| unsubscribe(tx, run, alike[0].memories));
        }
        self.unfinished.commit(&mut self.memory, draft, plans);
        self.scratch.given_up = given_up;
    }
}
