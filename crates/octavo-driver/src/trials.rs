//! How many times in a row an executor may refuse the same thing, so that retries end.

use std::collections::{BTreeMap, BTreeSet};

use octavo_manager::{PageId, Plan, PlanClass, PlanId, ProcessorId};

/// Refusals in a row after which the same thing is not tried again; our choice: far more than any passing trouble
/// causes.
const MOST: u32 = 1000;

/// Steps that were refused and have not been done since. Empty while nothing is refused.
#[derive(Default)]
pub(crate) struct Trials {
    /// The number of refused plans in a row that should have woken a fault.
    faults: BTreeMap<(ProcessorId, PageId), u32>,
    /// Unfinished plans that end what a refused one started. They wake its faults, but serve none.
    ends: BTreeSet<PlanId>,
    /// Refusals in a row among these.
    ends_refused: u32,
    /// Refused plans in a row that no fault waits for.
    ahead: u32,
}

impl Trials {
    /// A plan is refused; returns the faults that it should have woken and that are not tried again.
    pub fn refused(&mut self, plan: &Plan) -> Vec<(ProcessorId, PageId)> {
        if self.ends.remove(&plan.id) {
            self.ends_refused += 1;
        }
        self.ahead += u32::from(plan.class == PlanClass::Background);
        let mut hopeless = Vec::new();
        for fault in plan.wakes() {
            let tries = self.faults.entry(fault).or_default();
            *tries += 1;
            if *tries >= MOST {
                self.faults.remove(&fault);
                hopeless.push(fault);
            }
        }
        hopeless
    }

    /// This plan ends what a refused one started.
    pub fn begin_end(&mut self, plan: PlanId) {
        self.ends.insert(plan);
    }

    /// A plan was carried out.
    #[inline]
    pub fn done(&mut self, plan: &Plan) {
        self.ahead = 0;
        if self.ends.is_empty() && self.faults.is_empty() {
            return;
        }
        if self.ends.remove(&plan.id) {
            self.ends_refused = 0;
        } else {
            plan.wakes().for_each(|fault| _ = self.faults.remove(&fault));
        }
    }

    /// Something else happened.
    #[inline]
    pub fn forget_ahead(&mut self) {
        self.ahead = 0;
    }

    /// Whether it is no use to do anything ahead of need before something else happens.
    #[inline]
    pub fn ahead_is_vain(&self) -> bool {
        self.ahead >= MOST
    }

    /// Whether something that was started will never end.
    pub fn ends_are_vain(&self) -> bool {
        self.ends_refused >= MOST
    }
}
