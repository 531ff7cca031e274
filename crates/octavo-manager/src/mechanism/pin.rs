//! A page that processors fight over comes to lie in a certain memory, and all of them map it there.

use super::{accessors, move_to};
use crate::contract::event::Fault;
use crate::contract::ids::{MemoryId, PageRun};
use crate::contract::masks::ProcessorMask;
use crate::contract::plan::Cause;
use crate::mechanism::room::NoRoom;
use crate::transaction::Transaction;

pub(super) fn serve(
    tx: &mut Transaction<'_>,
    fault: &Fault,
    memory: MemoryId,
    mappers: ProcessorMask,
) -> Result<Cause, NoRoom> {
    let cause = move_to::serve(tx, fault, memory)?;
    accessors::map_for(tx, PageRun::one(fault.page), mappers);
    Ok(cause)
}

/// A processor without a copy of the page, and without advice to access it, has to fault again.
pub(crate) fn unpin(tx: &mut Transaction<'_>, run: PageRun) {
    let page = tx.state(run.first);
    let named = tx.memory.pages.advised().of(run.first).accessed_by;
    tx.invalidate(page.mapped.difference(page.resident.processors()).difference(named), run);
}
