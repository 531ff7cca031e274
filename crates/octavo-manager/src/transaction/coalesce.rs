//! Blocks become large pages in place.

use crate::contract::ids::ProcessorId;
use crate::contract::kind::Kind;
use crate::contract::page::Mode;
use crate::contract::plan::Step;
use crate::transaction::Transaction;
use crate::transaction::draft::Draft;
use crate::transaction::state::Memory;

/// Whether a block can become a large page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Now,
    /// Once plans that hold its pages are acknowledged.
    Later,
    No,
}

/// Makes large pages of the blocks that a plan changed, where that is possible.
pub(super) fn coalesce_touched(memory: &mut Memory, draft: &mut Draft) {
    if draft.flight.journal.touched.is_empty() {
        return;
    }
    let mut touched = std::mem::take(&mut draft.flight.journal.touched);
    for (processor, block) in touched.drain(..) {
        coalesce(memory, draft, processor, block);
    }
    draft.flight.journal.touched = touched;
}

/// Makes a large page of a block, now or once that is possible, or not at all.
pub(crate) fn coalesce(memory: &mut Memory, draft: &mut Draft, processor: ProcessorId, block: u32) {
    match verdict(memory, processor, block, draft.slot) {
        Verdict::Now => make_large(&mut Transaction { memory, draft }, processor, block),
        Verdict::Later => memory.physical.iter_mut().for_each(|frames| frames.postpone(processor, block)),
        Verdict::No => {}
    }
}

fn verdict(memory: &Memory, processor: ProcessorId, block: u32, slot: u32) -> Verdict {
    let Some(physical) = &memory.physical else { return Verdict::No };
    let store = physical.store(processor);
    let run = physical.block(block);
    let in_place = store.full_home(block) && store.coalesced(block).is_none();
    let device_only = physical.coalescing.is_some_and(|coalescing| coalescing.device_only);
    let wanted = !device_only || memory.pages.kind(run.first) == Kind::Device;
    let plain = || run.iter().all(|page| memory.pages.mode(page) == Mode::Plain);
    // Entries of the operating system's table are the kernel's business.
    let own = || memory.pages.all_of_space(run, memory.pages.space(run.first)) && !memory.system_wide(run.first);
    if !wanted || !in_place || !own() || !memory.pages.mapped_alike(processor, run) || !plain() {
        return Verdict::No;
    }
    let mut slots = run.iter().filter_map(|page| memory.pages.slot(page));
    if store.splinters(block) > 0 || slots.any(|other| other != slot) { Verdict::Later } else { Verdict::Now }
}

fn make_large(tx: &mut Transaction<'_>, processor: ProcessorId, block: u32) {
    let Some(physical) = &mut tx.memory.physical else { return };
    let run = physical.block(block);
    let store = physical.store_mut(processor);
    let home = store.home(block).expect("its pages are in their own places");
    store.set_coalesced(home, true);
    tx.hold(run);
    tx.draft.steps.push(Step::Coalesce { processor, block: run });
    tx.draft.flight.journal.coalesced.push((processor, block));
    tx.memory.statistics.coalesced += 1;
}
