//! An untouched page comes into being: it gets a frame where the decision wants it, and nothing is copied.

use super::{everywhere, huge, map_remote, migrate};
use crate::contract::event::Fault;
use crate::contract::ids::{HOST_MEMORY, MemoryId, PageRun, ProcessorId};
use crate::contract::plan::Cause;
use crate::mechanism::room::NoRoom;
use crate::strategies::decision::Decision;
use crate::transaction::Transaction;

/// Serves the first touch of a page: where no other copy can be mapped, the toucher becomes the owner.
pub(super) fn serve(tx: &mut Transaction<'_>, fault: &Fault, decision: Decision) -> Result<Cause, NoRoom> {
    let memory = place(tx, fault.processor, decision);
    let run = huge::touched(tx, fault, memory).unwrap_or(PageRun::one(fault.page));
    if decision == Decision::Everywhere && !memory.on_host() {
        everywhere::populate(tx, run, memory);
        return Ok(Cause::Migration);
    }
    migrate::relocate(tx, run, memory, Cause::Migration)?;
    huge::note(tx, run);
    if memory.processor() != fault.processor {
        map_remote::serve_come(tx, fault);
    }
    Ok(Cause::Migration)
}

/// Where the page is created: at its home if that is within reach, otherwise near the toucher. A processor that lost
/// all its memory to a change of capacity populates nothing.
pub(super) fn place(tx: &Transaction<'_>, toucher: ProcessorId, decision: Decision) -> MemoryId {
    let has_room = |memory: MemoryId| memory.on_host() || tx.memory.frames.capacity(memory) > 0;
    match decision {
        Decision::At(home) | Decision::To(home) | Decision::Pin { memory: home, .. }
            if has_room(home) && tx.memory.reach.can_map(toucher, home) =>
        {
            home
        }
        _ if has_room(toucher.memory()) => toucher.memory(),
        _ => HOST_MEMORY,
    }
}
