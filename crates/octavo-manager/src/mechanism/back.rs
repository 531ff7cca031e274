//! The host gets a copy of pages that a GPU keeps for others.

use crate::contract::ids::{MemoryId, PageRun};
use crate::transaction::Transaction;

/// Copies pages, which no processor maps, to the host's memories in order. They have room for all of them.
pub(crate) fn back(tx: &mut Transaction<'_>, run: PageRun, from: MemoryId, host: MemoryId) {
    let mut rest = Some(run);
    while let Some(run) = rest {
        let room = tx.memory.room_on_host(host, run, &tx.draft.flight.change);
        let (memory, count) = room.expect("the host was found to have room");
        let (part, beyond) = run.split(count);
        tx.back(part, from, memory);
        rest = beyond;
    }
}
