//! Pages that processors fight over: faults that wait for that, and pages that are unpinned.

use octavo_units::Time;

use crate::contract::event::Fault;
use crate::contract::ids::{PageId, PageRun};
use crate::contract::kind::Kind;
use crate::contract::page::Mode;
use crate::contract::plan::{Cause, Plan, PlanClass};
use crate::manager::Manager;
use crate::mechanism::pin::unpin;
use crate::strategies::context::{Charges, Context};
use crate::strategies::guard::{Hint, ThrashingGuard};
use crate::transaction::Transaction;
use crate::transaction::flight::Pending;
use crate::transaction::state::Memory;

impl Manager {
    /// The guard's answer about a fault that is about to be decided, and what it charged.
    pub(super) fn hint(&mut self, fault: &Fault) -> (Hint, Charges) {
        if self.memory.guard.is_none() {
            return (Hint::Pass, Charges::default());
        }
        let page = self.memory.pages.view(fault.page);
        let sole = page.populated() && !page.replicated() && page.mode == Mode::Plain;
        if !sole || page.kind != Kind::Managed || self.memory.pages.advised().of(fault.page).read_mostly {
            return (Hint::Pass, Charges::default());
        }
        let hint = self.ask_guard(|guard, context| guard.on_fault(fault, &page, context));
        hint.unwrap_or((Hint::Pass, Charges::default()))
    }

    fn ask_guard<T>(
        &mut self,
        ask: impl FnOnce(&mut dyn ThrashingGuard, &mut Context<'_>) -> T,
    ) -> Option<(T, Charges)> {
        let Memory { guard: Some(guard), now, pages, frames, was_full, reach, fast, .. } = &mut self.memory else {
            return None;
        };
        let mut charges = Charges::default();
        let mut context = Context {
            now: *now,
            decider: None,
            pages,
            frames,
            was_full: *was_full,
            reach,
            fast,
            charges: &mut charges,
        };
        Some((ask(guard.as_mut(), &mut context), charges))
    }

    /// A fault waits until a time.
    pub(super) fn throttle(&mut self, pending: Pending, until: Time) {
        assert!(until > self.memory.now, "a guard throttles a fault at {} until {until}", self.memory.now);
        self.delayed.wait(until, pending);
    }

    /// Faults whose time has come are served as if they had just happened.
    pub(super) fn serve_delayed(&mut self, plans: &mut Vec<Plan>) {
        let due = self.delayed.due(self.memory.now);
        self.serve(&due, plans);
    }

    /// The guard's time has come; pages that it no longer pins are mapped by their owner alone.
    pub(super) fn ask_what_to_unpin(&mut self, plans: &mut Vec<Plan>) {
        let mut pages: Vec<PageId> = Vec::new();
        let asked = self.ask_guard(|guard, context| guard.on_deadline(context, &mut pages));
        let mut draft = self.unfinished.open_for(PlanClass::Background);
        draft.charge(asked.map(|(_, charges)| charges).unwrap_or_default());
        draft.cause = Some(Cause::RemoteMap);
        let mut tx = Transaction { memory: &mut self.memory, draft: &mut draft };
        for page in pages {
            if tx.memory.pages.is_managed(page) && tx.memory.pages.slot(page).is_none() {
                unpin(&mut tx, PageRun::one(page));
            }
        }
        self.unfinished.commit(&mut self.memory, draft, plans);
    }
}

#[cfg(test)]
mod tests {
    use octavo_registry::Choice;

    use super::*;
    use crate::contract::event::{Allocation, Event};
    use crate::contract::ids::ProcessorId;
    use crate::contract::kind::Advice;
    use crate::contract::masks::ProcessorMask;
    use crate::contract::plan::Step;
    use crate::contract::topology::Topology;
    use crate::strategies::config::MemoryConfig;
    use crate::strategies::guard::strict::Strict;
    use crate::strategies::system::SystemConfig;

    const SYSTEM: PageId = PageId(600);

    /// Two GPUs, four managed pages on the host and one of the operating system's memory.
    fn manager(placement: &str) -> Manager {
        let placement = Choice::named(placement);
        let system = SystemConfig { placement: placement.clone(), ..SystemConfig::default() };
        let config = MemoryConfig { placement, system, ..MemoryConfig::default() };
        let mut manager = Manager::new(&config, &Topology::unlimited(2)).unwrap();
        manager.happens(Event::Allocate(PageRun { first: PageId(0), count: 4 }.into()));
        manager.happens(Event::Allocate(Allocation { kind: Kind::System, ..PageRun::one(SYSTEM).into() }));
        manager
    }

    #[test]
    fn the_guard_is_asked_about_managed_pages_with_one_copy_that_are_not_mostly_read() {
        let mut manager = manager("duplication");
        let untouched = Allocation { populated: false, ..PageRun::one(PageId(700)).into() };
        manager.happens(Event::Allocate(untouched));
        let advice = Advice { read_mostly: true, ..Advice::default() };
        manager.happens(Event::Advise { pages: PageRun::one(PageId(2)), advice });
        (0..2).for_each(|gpu| manager.reads(gpu, 1));
        manager.memory.guard = Some(Box::new(Strict(Vec::new())));
        for (page, asked) in [(0, true), (1, false), (2, false), (SYSTEM.0, false), (700, false)] {
            let (hint, _) = manager.hint(&Fault::load(0, page));
            assert_eq!(hint != Hint::Pass, asked, "page {page}");
        }
    }

    #[test]
    fn managed_pages_that_no_plan_holds_are_unpinned() {
        let mut manager = manager("first-touch");
        // GPU 1 maps pages of GPU 0; one of these mappings is still to be made.
        for page in [0, 1, SYSTEM.0] {
            manager.reads(0, page);
        }
        [0, SYSTEM.0].into_iter().for_each(|page| manager.reads(1, page));
        let mut plans = Vec::new();
        manager.handle(Time::ZERO, Event::Faults(&[Fault::load(1, 1)]), &mut plans);
        plans.clear();
        manager.memory.guard = Some(Box::new(Strict(vec![PageId(0), PageId(1), SYSTEM])));
        manager.ask_what_to_unpin(&mut plans);
        let steps: Vec<Step> = plans.into_iter().flat_map(|plan| plan.steps).collect();
        let processors = ProcessorMask::only(ProcessorId::gpu(1));
        assert_eq!(steps, [Step::Invalidate { processors, pages: PageRun::one(PageId(0)) }]);
    }
}
