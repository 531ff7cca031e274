//! A guard observes the moves of plans.

use crate::contract::ids::{PageId, PageRun};
use crate::contract::kind::Kind;
use crate::contract::plan::{Cause, Step};
use crate::strategies::context::{Charges, Context};
use crate::transaction::draft::Draft;
use crate::transaction::state::Memory;

/// Tells the guard, if there is one, about managed pages that the plan moves. Evictions from a full memory, and pages
/// in idle memory, say nothing about competition between processors.
pub(super) fn watch(memory: &mut Memory, draft: &Draft) {
    let Memory { guard: Some(guard), now, pages, frames, was_full, reach, fast, .. } = memory else { return };
    let mut charges = Charges::default();
    let mut context =
        Context { now: *now, decider: None, pages, frames, was_full: *was_full, reach, fast, charges: &mut charges };
    for step in &draft.steps {
        let &Step::Copy { pages: run, to, cause, .. } = step else { continue };
        if matches!(cause, Cause::Eviction | Cause::WriteBack | Cause::Staging)
            || context.page(run.first).kind != Kind::Managed
        {
            continue;
        }
        for part in by_block(run, context.geometry().block_pages()) {
            if draft.by_program || !matches!(cause, Cause::Migration | Cause::Prefetch) {
                guard.overruled(part);
            } else {
                guard.moved(part, to, &mut context);
            }
        }
    }
}

/// The parts of a run that lie in one block each.
fn by_block(run: PageRun, block_pages: u32) -> impl Iterator<Item = PageRun> {
    let end = run.first.0 + run.count;
    let mut first = run.first.0;
    std::iter::from_fn(move || {
        let next = ((first / block_pages + 1) * block_pages).min(end);
        let part = PageRun { first: PageId(first), count: next - first };
        first = next;
        (part.count > 0).then_some(part)
    })
}
