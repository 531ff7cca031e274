//! What a timeline is told of plans and of the driver.

use octavo_driver::{Faults, Happening};
use octavo_manager::{Plan, ProcessorId, Step};

use super::Spans;
use super::write::Word;

impl Spans<'_> {
    /// The driver says what happens.
    #[inline(never)]
    pub fn hear(&mut self, now: u64, happening: Happening<'_>) {
        match happening {
            Happening::Served(request, from, until) => {
                self.served(request.fault().map(|fault| fault.0), from.0, until.0);
            }
            Happening::BatchBegins { requests, served } => {
                let faults = requests.iter().filter_map(|request| request.fault());
                let flows: Vec<u64> = faults.map(|fault| self.flow(fault.0)).collect();
                self.batch_began(now, served.0, requests.len(), &flows);
            }
            Happening::BatchEnds => self.batch_ended(now),
            Happening::PlanBegins { slot, plan, starts, faults } => {
                let flows = self.flows_of(plan, faults);
                self.plan_began(slot, plan, now, starts.0 - now, flows);
            }
            Happening::PlanEnds { slot, manager, .. } => {
                self.plan_ended(slot, now);
                self.memory(now, manager);
            }
        }
    }

    /// Flows of the faults that a plan will wake.
    fn flows_of(&self, plan: &Plan, faults: &Faults) -> Vec<u64> {
        let wakes = plan.steps.iter().filter_map(|step| match *step {
            Step::Wake { processor, pages } => Some((processor, pages)),
            _ => None,
        });
        wakes
            .flat_map(|(processor, pages)| pages.iter().filter_map(move |page| faults.outstanding(processor, page)))
            .map(|fault| self.flow(fault.0))
            .collect()
    }

    /// A step of the plan in `slot` takes this time. Of a drain that is not done with it, it was the message alone.
    pub fn plan_step(&mut self, slot: u32, step: &Step, is_done: bool, span: (u64, u64)) {
        let (word, pages) = match *step {
            Step::Drain { pages, .. } if !is_done => (Word::Message, pages),
            Step::Drain { processors, pages } => {
                for gpu in processors.iter().filter_map(ProcessorId::gpu_index) {
                    self.drain(gpu, span, pages);
                }
                (Word::Drain, pages)
            }
            Step::Copy { pages, from, to, cause } => {
                self.copy(slot, cause, (from, to), span, pages);
                (Word::Copy, pages)
            }
            Step::Invalidate { pages, .. } => (Word::Invalidate, pages),
            Step::Protect { pages, .. } => (Word::Protect, pages),
            Step::Map { pages, .. } => (Word::Map, pages),
            Step::Coalesce { block, .. } => (Word::Coalesce, block),
            Step::Splinter { block, .. } => (Word::Splinter, block),
            Step::Compact { pages, .. } => return self.compaction(slot, span, pages),
            Step::Discard { .. } | Step::ClearCounters { .. } | Step::Wake { .. } => return,
        };
        self.step(slot, word, span, pages);
    }
}
