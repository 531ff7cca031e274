//! A processor maps a page where it is.

use super::collapse;
use super::upgrade::upgrade;
use crate::contract::event::Fault;
use crate::contract::ids::{Access, PageRun};
use crate::contract::masks::ProcessorMask;
use crate::contract::page::Mode;
use crate::contract::plan::{Cause, Permission};
use crate::transaction::Transaction;

/// Maps the page to the owner's memory for reading and writing, or to the processor's own copy if it has one. Read-only
/// replicas are removed first, and the owner can write again, because a second writer's stores would not reach them.
/// Replicas that take part in broadcast stores stay, and the faulting processor's stores are broadcast to them.
pub(super) fn serve(tx: &mut Transaction<'_>, fault: &Fault) -> Cause {
    let run = PageRun::one(fault.page);
    let page = tx.state(fault.page);
    if page.replicated() && page.mode == Mode::Plain {
        return leave_duplication(tx, fault);
    }
    if let Some(own) = page.resident.of(fault.processor) {
        return upgrade(tx, run, own);
    }
    let holders = page.resident.processors().intersection(page.mapped).difference(page.writable);
    let mappers = holders.with(fault.processor);
    tx.map(mappers, run, Some(page.owner), Permission::ReadWrite);
    tx.used(page.owner, run);
    tx.memory.statistics.remote_maps += 1;
    Cause::RemoteMap
}

/// Maps a page that has one copy, elsewhere, for the loads of a processor.
pub(super) fn serve_load(tx: &mut Transaction<'_>, fault: &Fault) -> Cause {
    let run = PageRun::one(fault.page);
    let page = tx.state(fault.page);
    let own = page.resident.of(fault.processor).is_some();
    if fault.access == Access::Write || own || page.replicated() || page.mode != Mode::Plain {
        return serve(tx, fault);
    }
    tx.map(ProcessorMask::only(fault.processor), run, Some(page.owner), Permission::ReadOnly);
    tx.used(page.owner, run);
    tx.memory.statistics.remote_maps += 1;
    Cause::RemoteMap
}

/// The same for a page that has just come there, unless that made the mapping: who was said to access it has it.
pub(super) fn serve_come(tx: &mut Transaction<'_>, fault: &Fault) {
    if !tx.state(fault.page).satisfies(fault) {
        serve(tx, fault);
    }
}

fn leave_duplication(tx: &mut Transaction<'_>, fault: &Fault) -> Cause {
    let run = PageRun::one(fault.page);
    let page = tx.state(fault.page);
    collapse::to_owner(tx, run);
    let mapped_before = page.mapped.intersection(ProcessorMask::only(page.owner.processor()));
    tx.map(mapped_before.with(fault.processor), run, Some(page.owner), Permission::ReadWrite);
    tx.used(page.owner, run);
    tx.memory.statistics.replicas_left += 1;
    tx.memory.statistics.remote_maps += u64::from(fault.processor != page.owner.processor());
    if fault.access == Access::Write { Cause::WriteCollapse } else { Cause::RemoteMap }
}
