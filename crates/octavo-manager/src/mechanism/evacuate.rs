//! A large frame is emptied: the translations of its pages go, the pages move, and they are mapped as they were.

use crate::contract::ids::{HOST, PageRun, ProcessorId};
use crate::contract::masks::ProcessorMask;
use crate::contract::plan::{Compaction, Permission};
use crate::memories::evacuation::Evacuation;
use crate::pages::state::PageState;
use crate::transaction::Transaction;

pub(crate) fn evacuate(tx: &mut Transaction<'_>, processor: ProcessorId, evacuation: &Evacuation, model: Compaction) {
    let mut pages = tx.pages_in(processor, evacuation.moves.iter().map(|&(from, _)| from));
    pages.sort_unstable();
    let mut before: Vec<(PageRun, ProcessorMask, ProcessorMask)> = Vec::new();
    tx.each_uniform_run(&pages, |tx, run| {
        let state = tx.state(run.first);
        let through = users(&state, processor);
        tx.invalidate(through, run);
        tx.hold(run);
        before.push((run, through, state.writable));
    });
    tx.compact(processor, &evacuation.moves, model);
    for (run, through, writable) in before {
        for (who, rights) in [
            (through.intersection(writable), Permission::ReadWrite),
            (through.difference(writable), Permission::ReadOnly),
        ] {
            if !who.is_empty() {
                tx.map(who, run, Some(processor.memory()), rights);
            }
        }
    }
    let statistics = &mut tx.memory.statistics;
    statistics.compactions += 1;
    statistics.pages_compacted += evacuation.moves.len() as u64;
    statistics.frames_freed_by_compaction += 1;
}

/// The processors that access `processor`'s copy of a page: itself, and, if it is the owner, those without a copy.
fn users(state: &PageState, processor: ProcessorId) -> ProcessorMask {
    let own = state.mapped.intersection(ProcessorMask::only(processor));
    debug_assert!(processor != HOST);
    if state.owner != processor.memory() {
        return own;
    }
    own.union(state.mapped.difference(state.resident.processors()))
}
