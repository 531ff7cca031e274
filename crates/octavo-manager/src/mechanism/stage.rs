//! Pages of the host get a copy in another GPU's idle memory: they come over that GPU's link to the host, and from
//! there over the links between GPUs.

use crate::contract::ids::{MemoryId, PageId, PageRun};
use crate::contract::page::{Mode, PageView};
use crate::contract::plan::Cause;
use crate::mechanism::ways::Outlook;
use crate::mechanism::{fetch, removal, room};
use crate::pages::spare::Staging;
use crate::transaction::Transaction;
use crate::transaction::state::Memory;

/// Whether a page can be staged: the host has its only copy, and no plan holds it.
pub(crate) fn stageable(page: &PageView) -> bool {
    let alone = page.mode == Mode::Plain && !page.replicated() && page.owner.on_host();
    page.allocated && page.populated() && !page.kind.stays() && !page.busy && alone
}

/// The GPU that pages on their way to `to` are staged at, if any lends its memory and its link for that.
pub(crate) fn lender(tx: &mut Transaction<'_>, to: MemoryId, pages: u32) -> Option<MemoryId> {
    let outlook = Outlook::now(tx);
    let Memory { frames, demotion, pages: known, .. } = &mut *tx.memory;
    demotion.lender(to, pages, &outlook.occupancy(frames, known))
}

/// Copies stageable pages of one block to `lender`, all of them or none; returns whether they arrived.
pub(crate) fn stage(tx: &mut Transaction<'_>, pages: &[PageId], lender: MemoryId) -> bool {
    let Some(&first) = pages.first() else { return false };
    if !room_at(tx, lender, PageRun::one(first), pages.len() as u32) {
        return false;
    }
    let plan = Staging { slot: tx.draft.slot, memory: lender, pages: pages.len() as u32 };
    tx.memory.pages.spare_mut().begin_staging(plan);
    tx.each_uniform_run(pages, |tx, run| copy(tx, run, lender));
    true
}

/// Brings pages that the host has alone by way of the plan's detour; `None` if there is none for them.
pub(super) fn bring(
    tx: &mut Transaction<'_>,
    run: PageRun,
    to: MemoryId,
    cause: Cause,
) -> Option<Result<(), room::NoRoom>> {
    let by = tx.draft.detour.filter(|&by| by != to && !to.on_host())?;
    let page = tx.state(run.first);
    let alone = page.owner.on_host() && !page.replicated() && page.mode == Mode::Plain;
    if !page.populated() || !alone || tx.memory.system_wide(run.first) {
        return None;
    }
    // Nothing may have changed if there is no room at the end of the way.
    if let Err(full) = room::make_room(tx, to, run) {
        return Some(Err(full));
    }
    if !room_at(tx, by, run, run.count) {
        return None;
    }
    copy(tx, run, by);
    Some(fetch::bring(tx, run, to, cause))
}

fn room_at(tx: &mut Transaction<'_>, lender: MemoryId, run: PageRun, pages: u32) -> bool {
    let Some(blocks) = Outlook::now(tx).room_after(tx, lender, pages, Some(run)) else { return false };
    std::mem::swap(&mut tx.draft.steps, &mut tx.draft.room);
    blocks.into_iter().for_each(|block| removal::remove(tx, lender, block));
    std::mem::swap(&mut tx.draft.steps, &mut tx.draft.room);
    true
}

fn copy(tx: &mut Transaction<'_>, run: PageRun, lender: MemoryId) {
    let page = tx.state(run.first);
    tx.drain(page.must_drain(), run);
    tx.invalidate(page.mapped, run);
    tx.stage(run, page.owner, lender);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::kind::Kind;
    use crate::contract::masks::MemoryMask;

    #[test]
    fn what_the_host_alone_has_and_no_plan_holds_can_be_staged() {
        let page = PageView::on_the_host_alone();
        assert!(stageable(&page));
        for stays in [
            PageView { allocated: false, ..page },
            PageView { resident: MemoryMask::EMPTY, ..page },
            PageView { kind: Kind::Pinned, ..page },
            PageView { busy: true, ..page },
            PageView { resident: page.resident.with(MemoryId::gpu(1)), ..page },
            PageView { mode: Mode::Everywhere, ..page },
            PageView::on_a_gpu_alone(1),
        ] {
            assert!(!stageable(&stays), "{stays:?}");
        }
    }
}
