//! Readers get read-only replicas, a writer becomes the only holder.

use super::migrate;
use crate::contract::event::Fault;
use crate::contract::ids::{Access, PageRun};
use crate::contract::masks::ProcessorMask;
use crate::contract::page::Mode;
use crate::contract::plan::{Cause, Permission};
use crate::mechanism::room::{NoRoom, make_room};
use crate::transaction::Transaction;

pub(super) fn serve(tx: &mut Transaction<'_>, fault: &Fault, drain: bool) -> Result<Cause, NoRoom> {
    let page = tx.state(fault.page);
    let sole_on_host = page.owner.on_host() && !page.replicated();
    if page.mode == Mode::Everywhere || sole_on_host || fault.access == Access::Write {
        return migrate::serve(tx, fault);
    }
    replicate(tx, fault, drain)
}

/// A page on the host is no exception.
pub(super) fn replicate_anywhere(tx: &mut Transaction<'_>, fault: &Fault) -> Result<Cause, NoRoom> {
    if tx.state(fault.page).mode == Mode::Everywhere || fault.access == Access::Write {
        return migrate::serve(tx, fault);
    }
    replicate(tx, fault, true)
}

/// A load, of a page that some GPU holds: remote mappings go, the owner can no longer write.
fn replicate(tx: &mut Transaction<'_>, fault: &Fault, drain: bool) -> Result<Cause, NoRoom> {
    let run = PageRun::one(fault.page);
    let page = tx.state(fault.page);
    let holds = page.resident.near(fault.processor);
    if holds && !page.replicated() {
        return migrate::serve(tx, fault);
    }
    let own = match page.resident.of(fault.processor) {
        Some(memory) => memory,
        None => make_room(tx, fault.processor.memory(), run)?.0,
    };
    // A processor that broadcasts stores maps the page anew.
    let broadcast = page.mode == Mode::Broadcast;
    if drain || broadcast {
        tx.drain(page.writable, run);
    }
    let lost = if broadcast { page.mapped } else { page.mapped.difference(page.resident.processors()) };
    tx.invalidate(lost, run);
    tx.protect(page.writable.intersection(page.resident.processors()).difference(lost), run);
    tx.set_mode(run, Mode::Plain);
    if !holds {
        tx.replicate(run, page.owner, own);
        tx.memory.statistics.duplications += 1;
    }
    tx.map(ProcessorMask::only(fault.processor), run, Some(own), Permission::ReadOnly);
    // The owner's copy was the source: as the driver does, the service counts as a use of it too.
    tx.used(page.owner, run);
    tx.used(own, run);
    Ok(Cause::Duplication)
}
