//! Pages of a refused plan come to rest: steps that have started and cannot stay half-done are completed.

use super::{everywhere, unsubscribe};
use crate::contract::ids::{HOST, MemoryId, PageId, PageRun};
use crate::contract::masks::ProcessorMask;
use crate::contract::page::Mode;
use crate::contract::plan::Permission;
use crate::transaction::Transaction;
use crate::transaction::remainder::{Kept, KeptPage};

/// Adds the remaining steps for each page. Most are in a state that can stay.
pub(crate) fn repair(tx: &mut Transaction<'_>, kept: &Kept) {
    let pages: Vec<(PageId, KeptPage)> = kept.pages.iter().map(|(&page, &kept)| (page, kept)).collect();
    let kind = |page| tx.memory.pages.kind(page);
    let alike = |(one, left): &(PageId, KeptPage), (next, right): &(PageId, KeptPage)| {
        next.0 == one.0 + 1 && left == right && kind(*one) == kind(*next)
    };
    let runs: Vec<(PageRun, Option<MemoryId>)> = pages
        .chunk_by(alike)
        .map(|run| (PageRun { first: run[0].0, count: run.len() as u32 }, run[0].1.owed))
        .collect();
    runs.into_iter().for_each(|(run, owed)| repair_run(tx, run, owed));
}

fn repair_run(tx: &mut Transaction<'_>, run: PageRun, owed: Option<MemoryId>) {
    if let Some(source) = owed {
        tx.draft.flight.owed.push((run, source));
        tx.release(source, run);
    }
    let page = tx.state(run.first);
    match page.mode {
        Mode::Broadcast => unsubscribe::end_broadcast(tx, run),
        Mode::Everywhere if page.owner.on_host() => tx.set_mode(run, Mode::Plain),
        Mode::Everywhere => everywhere::complete(tx, run),
        Mode::Plain if tx.memory.pages.kind(run.first).stays() && page.populated() => map_for_good(tx, run, page.owner),
        Mode::Plain | Mode::Spare => {}
    }
}

/// Maps pages that stay for every processor that reaches them.
pub(crate) fn map_for_good(tx: &mut Transaction<'_>, run: PageRun, memory: MemoryId) {
    let everyone = ProcessorMask::all_gpus(tx.memory.pages.geometry().gpus).with(HOST);
    let mappers = tx.memory.reach.who_can_map(memory, everyone).difference(tx.state(run.first).mapped);
    if !mappers.is_empty() {
        tx.map(mappers, run, Some(memory), Permission::ReadWrite);
    }
}
