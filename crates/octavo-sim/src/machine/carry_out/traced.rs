//! What a timeline is told of plans, if there is one.

use octavo_manager::{Plan, ProcessorId, Step};

use crate::machine::node::Node;
use crate::observe::spans::write::Word;

impl Node<'_> {
    /// A plan begins.
    pub(super) fn trace_plan(&mut self, number: u32, metadata: u64) {
        if self.spans.is_none() {
            return;
        }
        let flows = self.flows_of(&self.plans.running[number].plan);
        if let Some(spans) = &mut self.spans {
            spans.plan_began(number, &self.plans.running[number].plan, self.now, metadata, flows);
        }
    }

    /// Flows of the faults that a plan will wake.
    fn flows_of(&self, plan: &Plan) -> Vec<u64> {
        let Some(spans) = &self.spans else { return Vec::new() };
        let wakes = plan.steps.iter().filter_map(|step| match *step {
            Step::Wake { processor, pages } => processor.gpu_index().map(|gpu| (gpu, pages)),
            _ => None,
        });
        wakes
            .flat_map(|(gpu, pages)| pages.iter().filter_map(move |page| self.faults.outstanding(gpu, page.0)))
            .map(|fault| spans.flow(fault))
            .collect()
    }

    /// A step takes time until `done`. A drain that will be done again was its message alone.
    pub(super) fn trace_step(&mut self, number: u32, step: Step, done: u64) {
        let Some(spans) = &mut self.spans else { return };
        let span = (self.now, done);
        let progress = &self.plans.running[number];
        let (word, pages) = match step {
            Step::Drain { pages, .. } if progress.plan.steps.get(progress.next) == Some(&step) => {
                (Word::Message, pages)
            }
            Step::Drain { processors, pages } => {
                for gpu in processors.iter().filter_map(ProcessorId::gpu_index) {
                    spans.drain(gpu, span, pages);
                }
                (Word::Drain, pages)
            }
            Step::Copy { pages, from, to, cause } => {
                spans.copy(number, cause, (from, to), span, pages);
                (Word::Copy, pages)
            }
            Step::Invalidate { pages, .. } => (Word::Invalidate, pages),
            Step::Protect { pages, .. } => (Word::Protect, pages),
            Step::Map { pages, .. } => (Word::Map, pages),
            Step::Coalesce { block, .. } => (Word::Coalesce, block),
            Step::Splinter { block, .. } => (Word::Splinter, block),
            Step::Compact { pages, .. } => return spans.compaction(number, span, pages),
            Step::Discard { .. } | Step::ClearCounters { .. } | Step::Wake { .. } => return,
        };
        spans.step(number, word, span, pages);
    }

    /// A plan is over.
    pub(super) fn trace_plan_end(&mut self, number: u32) {
        if let Some(spans) = &mut self.spans {
            spans.plan_ended(number, self.now);
            spans.memory(self.now, &self.manager);
        }
    }
}
