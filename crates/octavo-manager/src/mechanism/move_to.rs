//! A page goes to a certain memory, and the faulting processor maps it there.

use super::{map_remote, migrate};
use crate::contract::event::Fault;
use crate::contract::ids::{HOST_MEMORY, MemoryId, PageRun};
use crate::contract::page::Mode;
use crate::contract::plan::Cause;
use crate::mechanism::room::NoRoom;
use crate::transaction::Transaction;

/// A page that has replicas goes to who touches it instead. A memory that was lost to a change of capacity is stood in
/// for by the host's.
pub(super) fn serve(tx: &mut Transaction<'_>, fault: &Fault, memory: MemoryId) -> Result<Cause, NoRoom> {
    let page = tx.state(fault.page);
    if page.replicated() || page.mode != Mode::Plain {
        return migrate::serve(tx, fault);
    }
    let lost = !memory.on_host() && tx.memory.frames.capacity(memory) == 0;
    let memory = if lost { HOST_MEMORY } else { memory };
    if page.owner.processor() == memory.processor() {
        return Ok(map_remote::serve(tx, fault));
    }
    migrate::relocate(tx, PageRun::one(fault.page), memory, Cause::Migration)?;
    if memory.processor() != fault.processor {
        map_remote::serve_come(tx, fault);
    }
    Ok(Cause::Migration)
}
