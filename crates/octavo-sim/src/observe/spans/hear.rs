//! What a timeline hears.

use octavo_driver::Faults;
use octavo_manager::{Plan, ProcessorId, Step};

use super::Spans;
use super::write::Word;
use crate::machine::occurrence::{Happening, Listen};

impl Listen for Spans<'_> {
    #[inline(always)]
    fn hear(&mut self, now: u64, what: Happening<'_>) {
        // The rest is too much for a timeline.
        let too_much = matches!(
            what,
            Happening::Spent(..)
                | Happening::Accessed { .. }
                | Happening::UnderWay { .. }
                | Happening::Walks { .. }
                | Happening::RemoteLines { .. }
                | Happening::Waited { .. }
        );
        if !too_much {
            self.write_down(now, what);
        }
    }
}

impl Spans<'_> {
    #[inline(never)]
    fn write_down(&mut self, now: u64, what: Happening<'_>) {
        match what {
            Happening::FaultBegins { fault, gpu, page, write, at, .. } => {
                self.fault_began(fault.0, gpu, page, write, at)
            }
            Happening::WakeLeaves { fault, arrives } => self.fault_wakes(fault.0, now, arrives),
            Happening::FaultEnds { fault } => self.fault_ended(fault.0, now),
            Happening::Step { slot, step, is_done, until } => self.plan_step(slot, step, is_done, (now, until)),
            Happening::Kernel { name, began, ended, .. } => self.kernel(name, began, ended),
            Happening::Driver(happening) => self.driver(now, happening),
            Happening::Moment { manager, links } if self.due(now) => {
                self.links(now, &links.usage());
                self.memory(now, manager);
            }
            _ => {}
        }
    }

    /// The driver reports events.
    fn driver(&mut self, now: u64, happening: octavo_driver::Happening<'_>) {
        match happening {
            octavo_driver::Happening::Served(request, from, until) => {
                self.served(request.fault().map(|fault| fault.0), from.0, until.0);
            }
            octavo_driver::Happening::BatchBegins { gpu, requests, served, .. } => {
                let faults = requests.iter().filter_map(|request| request.fault());
                let flows: Vec<u64> = faults.map(|fault| self.flow(fault.0)).collect();
                self.batch_began(gpu, (now, served.0), requests.len(), &flows);
            }
            octavo_driver::Happening::BatchEnds(gpu) => self.batch_ended(gpu, now),
            octavo_driver::Happening::PlanBegins { slot, plan, starts, faults } => {
                let flows = self.flows_of(plan, faults);
                self.plan_began(slot, plan, now, starts.0 - now, flows);
            }
            octavo_driver::Happening::PlanEnds { slot, manager, .. } => {
                self.plan_ended(slot, now);
                self.memory(now, manager);
            }
        }
    }

    /// Flows of the faults that a plan will wake.
    fn flows_of(&self, plan: &Plan, faults: &Faults) -> Vec<u64> {
        plan.wakes()
            .filter_map(|(processor, page)| faults.outstanding(processor, page))
            .map(|fault| self.flow(fault.0))
            .collect()
    }

    /// A step of the plan in `slot` takes this time. For a drain that is not yet complete, it was only the message.
    fn plan_step(&mut self, slot: u32, step: &Step, is_done: bool, span: (u64, u64)) {
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
            Step::Populate { pages, .. } => (Word::Populate, pages),
            Step::Map { pages, .. } => (Word::Map, pages),
            Step::Coalesce { block, .. } => (Word::Coalesce, block),
            Step::Splinter { block, .. } => (Word::Splinter, block),
            Step::Compact { pages, .. } => return self.compaction(slot, span, pages),
            Step::Consult { .. } | Step::Release { .. } | Step::ClearCounters { .. } | Step::Wake { .. } => return,
        };
        self.step(slot, word, span, pages);
    }
}
