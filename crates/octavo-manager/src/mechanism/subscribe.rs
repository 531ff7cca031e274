//! Everyone who touches a page gets a replica that it can write; stores go to all of them (GPS).

use super::{migrate, upgrade};
use crate::contract::event::Fault;
use crate::contract::ids::PageRun;
use crate::contract::masks::ProcessorMask;
use crate::contract::page::Mode;
use crate::contract::plan::{Cause, Permission};
use crate::mechanism::room::{NoRoom, make_room};
use crate::transaction::Transaction;

/// A page on the host moves to its first subscriber. For each later one, writers stop and their translations are
/// removed before the copy; otherwise the replica would miss their stores in between. Then all subscribers are mapped
/// again, and the stores of each go to all. Processors that mapped the owner's copy without a replica fault again.
pub(super) fn serve(tx: &mut Transaction<'_>, fault: &Fault) -> Result<Cause, NoRoom> {
    let run = PageRun::one(fault.page);
    let page = tx.state(fault.page);
    let sole_on_host = page.owner.on_host() && !page.replicated();
    if sole_on_host || page.mode == Mode::Everywhere {
        return migrate::serve(tx, fault);
    }
    let holds = page.resident.near(fault.processor);
    if holds && !page.replicated() {
        return Ok(upgrade::upgrade(tx, run, page.owner));
    }
    let own = match page.resident.of(fault.processor) {
        Some(memory) => memory,
        None => make_room(tx, fault.processor.memory(), run)?.0,
    };
    tx.drain(page.must_drain(), run);
    tx.invalidate(page.mapped, run);
    if !holds {
        tx.replicate(run, page.owner, own);
        tx.memory.statistics.duplications += 1;
    }
    tx.set_mode(run, Mode::Broadcast);
    map_subscribers(tx, run, page.resident.processors().with(fault.processor));
    tx.used(own, run);
    Ok(Cause::Duplication)
}

fn map_subscribers(tx: &mut Transaction<'_>, run: PageRun, subscribers: ProcessorMask) {
    tx.map(subscribers, run, None, Permission::ReadWrite);
}
