//! Moves without a fault: access counters, reports, ends of kernels.

use crate::contract::event::{AccessCount, CounterNotification, KernelEnd};
use crate::contract::ids::{MemoryId, PageId, PageRun};
use crate::contract::kind::Kind;
use crate::contract::page::Mode;
use crate::contract::plan::{Cause, Plan, PlanClass, Step};
use crate::manager::Manager;
use crate::mechanism::{migrate, unsubscribe::unsubscribe};
use crate::pages::deciders::Decider;
use crate::strategies::context::Context;
use crate::strategies::decision::Move;
use crate::strategies::placement::Placement;
use crate::transaction::Transaction;
use crate::transaction::draft::Draft;

impl Manager {
    /// A hardware counter fired. The counters are cleared in any case, so that they can fire again.
    pub(super) fn counter(&mut self, notification: &CounterNotification, plans: &mut Vec<Plan>) {
        let view = self.memory.pages.view(notification.page);
        assert!(view.allocated, "counter of page {}, which is not allocated", notification.page.0);
        let mut draft = self.unfinished.open_for(PlanClass::Background);
        let decider = self.memory.pages.decider(notification.page);
        if let Some(decider) = decider.filter(|_| !view.busy && !view.resident.near(notification.processor)) {
            let ask = |placement: &mut dyn Placement, context: &mut Context<'_>| {
                placement.on_counter(notification, &view, context)
            };
            let (run, charges) = self.ask_placement(decider, ask);
            draft.charge(charges);
            self.move_run(decider, run, notification.processor.memory(), &mut draft);
        }
        self.memory.statistics.counters_ignored += u64::from(draft.steps.is_empty());
        let group = self.geometry().counter_group_pages();
        let cleared = PageRun { first: PageId(notification.page.0 / group * group), count: group };
        draft.steps.push(Step::ClearCounters { pages: cleared });
        draft.flight.counters = Some(cleared);
        self.unfinished.commit(&mut self.memory, draft, plans);
    }

    /// Moves the pages of a run that one placement decides about: towards `to`, or to where advice wants them.
    fn move_run(&mut self, decider: Decider, run: Option<PageRun>, to: MemoryId, draft: &mut Draft) {
        let mut moves = std::mem::take(&mut self.scratch.moves);
        moves.clear();
        let all = run.into_iter().flat_map(PageRun::iter).filter(|&page| self.memory.pages.allocated(page));
        let moving = all.map(|page| Move { page, to: self.preferred(page, to).unwrap_or(to) });
        moves.extend(moving.filter(|wish| self.may_move(decider, wish.page, wish.to)));
        let mut list = std::mem::take(&mut self.scratch.pages);
        for together in moves.chunk_by(|one, next| one.to == next.to) {
            list.clear();
            list.extend(together.iter().map(|wish| wish.page));
            let mut tx = Transaction { memory: &mut self.memory, draft };
            let moved = migrate::move_all(&mut tx, &list, together[0].to, Cause::Migration);
            self.memory.statistics.counter_migrations += u64::from(moved);
        }
        (self.scratch.pages, self.scratch.moves) = (list, moves);
    }

    /// The memory where advice wants a page that is used from `to`, if it can be mapped from there (`uvm-driver.md`
    /// section 3, rules 3 and 9).
    fn preferred(&self, page: PageId, to: MemoryId) -> Option<MemoryId> {
        let pages = &self.memory.pages;
        if pages.advised().is_empty() || pages.kind(page) != Kind::Managed {
            return None;
        }
        let preferred = pages.advised().of(page).preferred?;
        self.memory.reach.can_map(to.processor(), preferred).then_some(preferred)
    }

    /// Whether a placement may move a page to a memory without a fault.
    fn may_move(&self, decider: Decider, page: PageId, to: MemoryId) -> bool {
        let memory = &self.memory;
        let movable = memory.pages.decides(decider, page) && migrate::movable(&self.page(page), to);
        movable && !memory.keeps(page) && memory.policy_lets_move(page, to)
    }

    /// A periodic report; everything that a placement moves becomes one plan.
    pub(super) fn report(&mut self, counts: &[AccessCount], plans: &mut Vec<Plan>) {
        for decider in self.policies.deciders() {
            if self.policies.needs_of(decider).reports.is_none() {
                continue;
            }
            let own: Vec<AccessCount>;
            let counts = if self.memory.pages.decides_all(decider) {
                counts
            } else {
                let decided = |count: &&AccessCount| self.memory.pages.decides(decider, count.page);
                own = counts.iter().filter(decided).copied().collect();
                &own
            };
            let ask = |placement: &mut dyn Placement, context: &mut Context<'_>, moves: &mut Vec<Move>| {
                placement.on_report(counts, context, moves);
            };
            let moved = self.ask_for_moves(decider, ask, plans);
            self.memory.statistics.report_migrations += moved;
        }
    }

    /// Asks a placement what to move, and makes one plan of it. Gives the number of pages.
    pub(super) fn ask_for_moves(
        &mut self,
        decider: Decider,
        ask: impl FnOnce(&mut dyn Placement, &mut Context<'_>, &mut Vec<Move>),
        plans: &mut Vec<Plan>,
    ) -> u64 {
        let mut moves = std::mem::take(&mut self.scratch.moves);
        moves.clear();
        let ((), charges) = self.ask_placement(decider, |placement, context| ask(placement, context, &mut moves));
        let mut draft = self.unfinished.open_for(PlanClass::Background);
        draft.charge(charges);
        let mut moved = 0;
        for request in &moves {
            let advised = self.preferred(request.page, request.to).is_some_and(|preferred| preferred != request.to);
            if !advised && self.may_move(decider, request.page, request.to) {
                let mut tx = Transaction { memory: &mut self.memory, draft: &mut draft };
                moved += u64::from(migrate::move_all(&mut tx, &[request.page], request.to, Cause::Migration));
            }
        }
        self.unfinished.commit(&mut self.memory, draft, plans);
        self.scratch.moves = moves;
        moved
    }

    /// A kernel ended; everything that a placement of its address space gives up becomes one plan.
    pub(super) fn kernel_end(&mut self, end: &KernelEnd, plans: &mut Vec<Plan>) {
        for decider in [self.memory.pages.decider_of_space(end.space), Decider::SYSTEM] {
            self.tell_kernel_end(decider, end, plans);
        }
    }

    fn tell_kernel_end(&mut self, decider: Decider, end: &KernelEnd, plans: &mut Vec<Plan>) {
        let mut given_up = std::mem::take(&mut self.scratch.given_up);
        given_up.clear();
        self.ask_placement(decider, |placement, context| placement.on_kernel_end(end, context, &mut given_up));
        given_up.retain(|request| {
            let view = self.page(request.page);
            let own = self.memory.pages.decides(decider, request.page);
            own && !view.busy && view.mode == Mode::Broadcast
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

#[cfg(test)]
mod tests {
    use octavo_registry::Choice;

    use super::*;
    use crate::contract::event::{Event, Fault};
    use crate::contract::ids::{ProcessorId, SpaceId};
    use crate::contract::kind::Advice;
    use crate::contract::masks::{MemoryMask, ProcessorMask};
    use crate::contract::page::PageView;
    use crate::contract::topology::Topology;
    use crate::strategies::choice::built;
    use crate::strategies::config::MemoryConfig;
    use crate::strategies::decision::{Decision, Unsubscribe};
    use crate::strategies::policies::{Policies, Policy};
    use crate::strategies::prefetch::PREFETCHERS;

    const LEFT: MemoryId = MemoryId::gpu(1);

    /// Gives up GPU 1's copies of these pages when a kernel ends.
    struct GivesUp(Vec<PageId>);

    impl Placement for GivesUp {
        fn on_fault(&mut self, _fault: &Fault, _page: &PageView, _context: &mut Context<'_>) -> Decision {
            Decision::Migrate
        }

        fn on_kernel_end(&mut self, _end: &KernelEnd, _context: &mut Context<'_>, given_up: &mut Vec<Unsubscribe>) {
            given_up.extend(self.0.iter().map(|&page| Unsubscribe { page, memories: MemoryMask::only(LEFT) }));
        }
    }

    /// Two GPUs have replicas of two managed pages: stores to the first are broadcast, the second is only read. The
    /// pages that GPU 1 loses at the end of a kernel, if the placements of managed memory and of the operating system's
    /// memory give these up.
    fn lost(managed: &[PageId], system: &[PageId]) -> Vec<PageId> {
        let (broadcast, read) = (PageId(0), PageId(1));
        let config = MemoryConfig { placement: Choice::named("gps"), ..MemoryConfig::default() };
        let mut manager = Manager::new(&config, &Topology::unlimited(2)).unwrap();
        manager.happens(Event::Allocate(PageRun { first: broadcast, count: 2 }.into()));
        let advice = Advice { read_mostly: true, ..Advice::default() };
        manager.happens(Event::Advise { pages: PageRun::one(read), advice });
        [(0, 0), (1, 0), (0, 1), (1, 1)].into_iter().for_each(|(gpu, page)| manager.reads(gpu, page));
        let policy = |pages: &[PageId]| Policy {
            placement: Box::new(GivesUp(pages.to_vec())),
            prefetch: built(&PREFETCHERS, &Choice::named("none"), &manager.geometry()).unwrap(),
        };
        manager.policies = Policies::new(policy(managed), policy(system)).unwrap();
        let gpus = ProcessorMask::only(ProcessorId::gpu(1));
        manager.happens(Event::KernelEnd(KernelEnd { space: SpaceId(0), gpus }));
        [broadcast, read].into_iter().filter(|&page| !manager.page(page).resident.contains(LEFT)).collect()
    }

    #[test]
    fn a_placement_gives_up_replicas_of_its_own_pages_whose_stores_are_broadcast() {
        let both = [PageId(0), PageId(1)];
        assert_eq!(lost(&both, &[]), [PageId(0)]);
        assert_eq!(lost(&[], &both), []);
    }
}
