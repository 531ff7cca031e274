//! A processor that cannot map a memory gets the pages that it touches there: the mapping that was decided becomes a
//! migration.

use super::{at_home, collapse, map_remote, migrate};
use crate::contract::event::Fault;
use crate::contract::ids::{HOST, HOST_MEMORY, MemoryId, PageRun};
use crate::contract::page::Mode;
use crate::contract::plan::Cause;
use crate::mechanism::room::NoRoom;
use crate::strategies::decision::Decision;
use crate::transaction::Transaction;

/// The decision, or a migration if it leads to a mapping that the faulting processor cannot have.
pub(super) fn within(tx: &Transaction<'_>, fault: &Fault, decision: Decision) -> Decision {
    if can_have(tx, fault, decision) { decision } else { Decision::Migrate }
}

fn can_have(tx: &Transaction<'_>, fault: &Fault, decision: Decision) -> bool {
    let page = tx.state(fault.page);
    match decision {
        Decision::Migrate | Decision::Duplicate { .. } | Decision::Replicate => true,
        Decision::To(memory) | Decision::Pin { memory, .. } => can_map(tx, fault, memory),
        Decision::At(home) => can_map(tx, fault, at_home::place(tx, &page, home)),
        Decision::MapRemote | Decision::ReadRemote if page.mode == Mode::Broadcast => {
            page.resident.iter().all(|holder| can_map(tx, fault, holder))
        }
        Decision::MapRemote | Decision::ReadRemote => can_map(tx, fault, page.owner),
        Decision::Subscribe => page.resident.iter().all(|holder| can_exchange(tx, fault, holder)),
        Decision::Everywhere if fault.processor == HOST => can_map(tx, fault, page.owner),
        Decision::Everywhere => !page.replicated() || can_map(tx, fault, page.owner),
    }
}

fn can_map(tx: &Transaction<'_>, fault: &Fault, memory: MemoryId) -> bool {
    tx.memory.reach.can_map(fault.processor, memory)
}

/// Whether stores can be broadcast between the faulting processor and another.
fn can_exchange(tx: &Transaction<'_>, fault: &Fault, holder: MemoryId) -> bool {
    can_map(tx, fault, holder) && tx.memory.reach.can_map(holder.processor(), fault.processor.memory())
}

/// Serves a processor that lost all its memory to a change of capacity: no page can be brought to it. A page that it
/// cannot map in place goes to the host, whose memory every GPU maps.
pub(super) fn serve_homeless(tx: &mut Transaction<'_>, fault: &Fault) -> Result<Cause, NoRoom> {
    let run = PageRun::one(fault.page);
    if !can_have(tx, fault, Decision::MapRemote) {
        if tx.state(fault.page).replicated() {
            collapse::to_owner(tx, run);
        }
        if !tx.state(fault.page).owner.on_host() {
            migrate::relocate(tx, run, HOST_MEMORY, Cause::Migration)?;
        }
    }
    Ok(map_remote::serve(tx, fault))
}
