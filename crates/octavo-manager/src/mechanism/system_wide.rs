//! Memory of the operating system where all processors share its page table: a page that one of them can access is
//! accessible to all. A fault means that no processor has the page, or that its entry is not there yet.

use super::populate::place;
use super::repair::map_for_good;
use super::{huge, migrate};
use crate::contract::event::Fault;
use crate::contract::ids::{HOST_MEMORY, MemoryId, PageRun};
use crate::contract::plan::Cause;
use crate::mechanism::room::NoRoom;
use crate::strategies::decision::Decision;
use crate::transaction::Transaction;

/// A page that is nowhere comes into being where the decision wants it, or on the host if a GPU has no room or takes no
/// such pages. A page that is somewhere stays there, unless the faulting processor cannot reach it.
pub(super) fn serve(tx: &mut Transaction<'_>, fault: &Fault, decision: Decision) -> Result<Cause, NoRoom> {
    let run = PageRun::one(fault.page);
    let page = tx.state(fault.page);
    if !page.populated() {
        let wished = place(tx, fault.processor, decision);
        let has_room = |memory| tx.memory.frames.spare(memory, &tx.draft.flight.change) > 0;
        let wished = tx.memory.numa.first_touch(fault.page, fault.processor, wished, has_room);
        let run = huge::touched(tx, fault, wished).unwrap_or(run);
        let brought = bring(tx, run, wished)?;
        huge::note(tx, run);
        return Ok(brought);
    }
    if !tx.memory.reach.can_map(fault.processor, page.owner) {
        return bring(tx, run, fault.processor.memory());
    }
    map_for_good(tx, run, page.owner);
    tx.memory.statistics.remote_maps += u64::from(fault.processor != page.owner.processor());
    Ok(Cause::RemoteMap)
}

/// Nothing makes room for such a page: if it does not fit, it goes to the host, which every GPU reaches, or, if bound
/// to some nodes, to another of these.
fn bring(tx: &mut Transaction<'_>, run: PageRun, wished: MemoryId) -> Result<Cause, NoRoom> {
    match migrate::relocate(tx, run, wished, Cause::Migration) {
        Err(NoRoom::Frames(full)) if tx.memory.bound(run.first).is_some() => bring_to_bound(tx, run, full),
        Err(NoRoom::Frames(full)) if !full.on_host() => bring_to_host(tx, run),
        served => served.map(|()| Cause::Migration),
    }
}

fn bring_to_bound(tx: &mut Transaction<'_>, run: PageRun, full: MemoryId) -> Result<Cause, NoRoom> {
    let nodes = tx.memory.bound(run.first).map(<[MemoryId]>::to_vec).unwrap_or_default();
    let found = nodes.into_iter().find(|&node| migrate::relocate(tx, run, node, Cause::Migration).is_ok());
    found.map(|_| Cause::Migration).ok_or(NoRoom::Frames(full))
}

fn bring_to_host(tx: &mut Transaction<'_>, run: PageRun) -> Result<Cause, NoRoom> {
    let page = tx.state(run.first);
    if page.populated() && page.owner.on_host() {
        map_for_good(tx, run, page.owner);
    } else {
        migrate::relocate(tx, run, HOST_MEMORY, Cause::Migration)?;
    }
    Ok(Cause::Migration)
}
