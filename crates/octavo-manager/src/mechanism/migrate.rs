//! A page moves to the processor that faulted on it, or that a strategy chose.

use super::upgrade::{map_local, upgrade};
use super::{accessors, collapse, everywhere, fetch, map_remote, stage};
use crate::contract::event::Fault;
use crate::contract::ids::{MemoryId, PageId, PageRun};
use crate::contract::page::{Mode, PageView};
use crate::contract::plan::Cause;
use crate::mechanism::repair::map_for_good;
use crate::mechanism::room::{NoRoom, make_room};
use crate::transaction::Transaction;

pub(super) fn serve(tx: &mut Transaction<'_>, fault: &Fault) -> Result<Cause, NoRoom> {
    let run = PageRun::one(fault.page);
    let page = tx.state(fault.page);
    if page.mode == Mode::Everywhere {
        let stays = tx.memory.reach.can_map(fault.processor, page.owner);
        return if stays { Ok(map_remote::serve(tx, fault)) } else { everywhere::recall(tx, run) };
    }
    if page.replicated() {
        return collapse::serve(tx, fault);
    }
    if page.owner.processor() == fault.processor {
        return Ok(upgrade(tx, run, page.owner));
    }
    relocate(tx, run, fault.processor.memory(), Cause::Migration)?;
    Ok(Cause::Migration)
}

/// Moves pages that have one copy, elsewhere, or that a GPU keeps for others: in-flight accesses complete, every
/// translation goes, then the copy. Pages that were never touched come into being there. One of the host's memories
/// stands for all of them.
pub(crate) fn relocate(tx: &mut Transaction<'_>, run: PageRun, to: MemoryId, cause: Cause) -> Result<(), NoRoom> {
    if tx.state(run.first).mode == Mode::Spare {
        return fetch::bring(tx, run, to, cause);
    }
    if let Some(brought) = stage::bring(tx, run, to, cause) {
        return brought;
    }
    let mut rest = Some(run);
    while let Some(run) = rest {
        let (memory, count) = make_room(tx, to, run)?;
        let (part, beyond) = run.split(count);
        relocate_to(tx, part, memory, cause);
        rest = beyond;
    }
    Ok(())
}

fn relocate_to(tx: &mut Transaction<'_>, run: PageRun, to: MemoryId, cause: Cause) {
    let page = tx.state(run.first);
    if page.populated() {
        tx.drain(page.must_drain(), run);
        tx.invalidate(page.mapped, run);
        tx.relocate(run, page.owner, to, cause);
    } else {
        tx.populate(run, to, true);
    }
    if tx.memory.system_wide(run.first) {
        map_for_good(tx, run, to);
    } else {
        map_local(tx, run, to);
        accessors::map(tx, run);
    }
    let statistics = &mut tx.memory.statistics;
    statistics.prefetched += u64::from(run.count) * u64::from(cause == Cause::Prefetch);
    statistics.migrations += u64::from(run.count) * u64::from(page.populated() && cause != Cause::Prefetch);
}

/// Whether a page can go to `to` as a whole: it has one copy, elsewhere, or is kept for others there, and no plan holds
/// it.
pub(crate) fn movable(page: &PageView, to: MemoryId) -> bool {
    page.populated() && may_come(page, to)
}

/// Whether a page can be prefetched to `to`: it is movable, or it is untouched and no plan holds it.
pub(crate) fn may_come(page: &PageView, to: MemoryId) -> bool {
    let sole = page.mode == Mode::Plain && !page.replicated() || page.mode == Mode::Spare;
    page.allocated && !page.kind.stays() && !page.busy && sole && !page.resident.near(to.processor())
}

/// Moves pages, ascending, while there is room; returns how many moved. An eviction for the first of them may have
/// claimed others, which then stay where they are put.
pub(crate) fn move_all(tx: &mut Transaction<'_>, pages: &[PageId], to: MemoryId, cause: Cause) -> u32 {
    let mut moved = 0;
    tx.each_uniform_run(pages, |tx, run| {
        if relocate(tx, run, to, cause).is_ok() {
            tx.draft.cause.get_or_insert(cause);
            moved += run.count;
        }
    });
    moved
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::ids::HOST_MEMORY;
    use crate::contract::kind::Kind;
    use crate::contract::masks::MemoryMask;

    #[test]
    fn a_page_may_come_if_nothing_holds_it_and_it_has_one_copy_elsewhere() {
        let here = MemoryId::gpu(0);
        let (host, other) = (PageView::on_the_host_alone(), PageView::on_a_gpu_alone(1));
        let both = other.resident.with(HOST_MEMORY);
        let untouched = PageView { resident: MemoryMask::EMPTY, ..host };
        let kept = PageView { mode: Mode::Spare, ..other };
        for comes in [host, other, untouched, kept, PageView { resident: both, ..kept }] {
            assert!(may_come(&comes, here), "{comes:?}");
            assert_eq!(movable(&comes, here), comes != untouched, "{comes:?}");
        }
        for stays in [
            PageView { allocated: false, ..host },
            PageView { kind: Kind::Device, ..host },
            PageView { busy: true, ..host },
            PageView { resident: both, ..other },
            PageView { mode: Mode::Broadcast, ..other },
            PageView { mode: Mode::Everywhere, ..other },
            PageView::on_a_gpu_alone(0),
        ] {
            assert!(!may_come(&stays, here), "{stays:?}");
        }
    }
}
