//! The calls that a placement strategy receives, and its answers.

use octavo_units::Time;

use crate::contract::counts::NamedCounts;
use crate::contract::event::{AccessCount, Accessed, CounterNotification, Fault, KernelEnd, Needs};
use crate::contract::failure::Failure;
use crate::contract::ids::{PageRun, ProcessorId};
use crate::contract::masks::ProcessorMask;
use crate::contract::page::PageView;
use crate::pages::attributes::Attribute;
use crate::pages::census::Census;
use crate::strategies::context::Context;
use crate::strategies::decision::{Decision, Move, Unsubscribe};

/// Decides where pages live. It sees faults, counters and reports, never single accesses, and moves nothing itself.
///
/// A strategy is asked exactly once about each fault, unless the plan made from its decision fails: then the fault
/// happens again. It is not asked about decisions of a [guard](crate::ThrashingGuard) or of advice. Knowledge from a
/// fault is kept if the plan fails.
pub trait Placement: Send {
    /// What the node has to count or report for this strategy. Asked once.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Its bits for each page, in the page's record. Asked once.
    fn attributes(&self) -> &'static [&'static Attribute] {
        &[]
    }

    /// Its counts, by name, for summaries. Counts of registered placements are listed with 0 under all others.
    fn counters(&self, _census: &Census<'_>) -> NamedCounts {
        NamedCounts::default()
    }

    /// Pages were allocated; they are on the host.
    fn on_allocate(&mut self, _pages: PageRun, _context: &mut Context<'_>) {}

    /// The same with the GPUs that the program runs on, for those that place pages before they are touched.
    fn on_allocate_among(&mut self, pages: PageRun, _gpus: ProcessorMask, context: &mut Context<'_>) {
        self.on_allocate(pages, context);
    }

    /// The same for a program that requested memory of `gpu`; strategies with their own distribution ignore that.
    fn on_allocate_on(&mut self, pages: PageRun, _gpu: ProcessorId, context: &mut Context<'_>) {
        self.on_allocate(pages, context);
    }

    /// Pages are about to be freed; their entries are still there.
    fn on_free(&mut self, _pages: PageRun, _context: &mut Context<'_>) {}

    /// A fault that cannot be served from the present mappings, on a page that is in no unfinished plan.
    fn on_fault(&mut self, fault: &Fault, page: &PageView, context: &mut Context<'_>) -> Decision;

    /// An access counter reached its threshold: which pages of the touched page's counter group move to the notifying
    /// processor. Pages that are busy, replicated or already in place are skipped. `page` is not local to it.
    fn on_counter(
        &mut self,
        _notification: &CounterNotification,
        _page: &PageView,
        _context: &mut Context<'_>,
    ) -> Option<PageRun> {
        None
    }

    /// The periodic report, if [`needs`](Placement::needs) requested one. The moves become one plan.
    fn on_report(&mut self, _counts: &[AccessCount], _context: &mut Context<'_>, _moves: &mut Vec<Move>) {}

    /// A GPU accessed a page that it maps, if [`needs`](Placement::needs) requested such reports; called before any
    /// decision.
    fn on_access(&mut self, _accessed: &Accessed) {}

    /// A kernel ended. All pages given up form one plan.
    fn on_kernel_end(&mut self, _end: &KernelEnd, _context: &mut Context<'_>, _given_up: &mut Vec<Unsubscribe>) {}

    /// The time at which it must be asked even if nothing happens; `None`: never. The manager reads it after each call.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// Its [deadline](Placement::deadline) has come; the next one is later. The moves become one plan.
    fn on_deadline(&mut self, _context: &mut Context<'_>, _moves: &mut Vec<Move>) {}

    /// Whether a prefetcher may bring this page, which has one copy and is in no unfinished plan, to a processor that
    /// migrates pages of the same block. A strategy that leaves pages where they are allows it only for the host's.
    fn may_prefetch(&self, page: &PageView) -> bool {
        page.cold()
    }

    /// Why it can no longer decide, if so. Until the run ends it may answer anything that the contract allows.
    fn failure(&self) -> Option<Box<Failure>> {
        None
    }

    /// Whether the strategy's state is consistent; for tests.
    ///
    /// # Errors
    /// Says what does not.
    fn check(&self, _context: &Context<'_>) -> Result<(), String> {
        Ok(())
    }

    /// Bytes of state that the strategy keeps apart from the page's record.
    fn bytes(&self) -> usize {
        0
    }
}
