//! Faults of one service on neighbouring pages: their pages are treated as a run at once, as the production driver
//! copies, maps and unmaps regions of a block (`uvm-driver.md` section 2; measured on an H200, where 512 faults on one
//! block took 146 us and not 1.6 ms).

use crate::contract::ids::PageRun;
use crate::contract::plan::Step;

/// Steps on one run of pages, in order.
type Treatment = Vec<Step>;

/// Joins treatments that follow one another, are alike, and are of neighbouring pages, in ascending order.
pub(super) fn join_neighbours(steps: &mut Vec<Step>) {
    if steps.windows(2).all(|pair| pages_of(&pair[0]) == pages_of(&pair[1])) {
        return;
    }
    let mut joined: Vec<Step> = Vec::with_capacity(steps.len());
    let mut current = Treatment::new();
    for next in steps.chunk_by(|one, next| pages_of(one).is_some() && pages_of(one) == pages_of(next)) {
        match together(&current, next) {
            Some(both) => current = both,
            None => joined.extend(std::mem::replace(&mut current, next.to_vec())),
        }
    }
    joined.extend(current);
    *steps = joined;
}

fn together(one: &[Step], next: &[Step]) -> Option<Treatment> {
    if one.is_empty() || one.len() != next.len() {
        return None;
    }
    one.iter().zip(next).map(|(one, next)| joint(one, next)).collect()
}

fn joint(one: &Step, next: &Step) -> Option<Step> {
    let (first, then) = (pages_of(one)?, pages_of(next)?);
    let follows = then.first.0 == first.first.0 + first.count;
    let alike = follows && at(next, first) == *one;
    alike.then(|| at(one, PageRun { count: first.count + then.count, ..first }))
}

/// The pages that a step treats; not those that stay as they are in any case.
fn pages_of(step: &Step) -> Option<PageRun> {
    if let Step::Drain { pages, .. } = *step { Some(pages) } else { step.changed() }
}

/// The same step on other pages.
fn at(step: &Step, run: PageRun) -> Step {
    let mut moved = *step;
    match &mut moved {
        Step::Drain { pages, .. }
        | Step::Invalidate { pages, .. }
        | Step::Protect { pages, .. }
        | Step::Populate { pages, .. }
        | Step::Copy { pages, .. }
        | Step::Release { pages, .. }
        | Step::Map { pages, .. } => *pages = run,
        _ => {}
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::ids::{HOST, HOST_MEMORY, MemoryId, PageId, ProcessorId};
    use crate::contract::masks::ProcessorMask;
    use crate::contract::plan::{Cause, MappingMode, Permission};

    fn run(first: u32, count: u32) -> PageRun {
        PageRun { first: PageId(first), count }
    }

    /// The step that brings pages of the host to the first GPU.
    fn brings(pages: PageRun, cause: Cause) -> Vec<Step> {
        let here = MemoryId::gpu(0);
        vec![
            Step::Invalidate { processors: ProcessorMask::only(HOST), pages },
            Step::Copy { pages, from: HOST_MEMORY, to: here, cause },
            Step::Release { memory: HOST_MEMORY, pages },
            Step::Map {
                processors: ProcessorMask::only(ProcessorId::gpu(0)),
                pages,
                target: None,
                permission: Permission::ReadWrite,
                mode: MappingMode::Direct,
            },
        ]
    }

    fn joined(parts: &[Vec<Step>]) -> Vec<Step> {
        let mut steps = parts.concat();
        join_neighbours(&mut steps);
        steps
    }

    #[test]
    fn neighbours_that_are_treated_alike_are_treated_at_once() {
        let pages: Vec<_> = (4..9).map(|page| brings(run(page, 1), Cause::Migration)).collect();
        assert_eq!(joined(&pages), brings(run(4, 5), Cause::Migration));
    }

    #[test]
    fn a_gap_and_another_order_keep_pages_apart() {
        let page = |page| brings(run(page, 1), Cause::Migration);
        for apart in [[4, 6], [5, 4]] {
            let parts = apart.map(page);
            assert_eq!(joined(&parts), parts.concat());
        }
    }

    #[test]
    fn what_is_done_for_another_reason_or_otherwise_stays_apart() {
        let (fault, guess) = (brings(run(4, 1), Cause::Migration), brings(run(5, 2), Cause::Prefetch));
        assert_eq!(joined(&[fault.clone(), guess.clone()]), [fault.clone(), guess].concat());
        let clears = vec![Step::ClearCounters { pages: run(5, 1) }];
        let next = brings(run(5, 1), Cause::Migration);
        assert_eq!(joined(&[fault.clone(), clears.clone(), next.clone()]), [fault, clears, next].concat());
    }
}
