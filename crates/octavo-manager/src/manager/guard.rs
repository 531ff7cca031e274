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
    /// What the guard says about a fault that is about to be decided, and what it charged.
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

    /// Faults whose time has come are served, as if they had just happened.
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
