//! Pages that only one GPU holds go to the host, although no other page needs their room.

use crate::contract::ids::{HOST_MEMORY, PageRun};
use crate::contract::plan::Cause;
use crate::transaction::Transaction;

/// Accesses in flight complete, translations go, then the copies to the host's memories in order. Pages that find no
/// room there stay as they are.
pub(crate) fn go_home(tx: &mut Transaction<'_>, run: PageRun) {
    if !tx.memory.frames.host_holds(run.count, &tx.draft.flight.change) {
        return;
    }
    let page = tx.state(run.first);
    tx.drain(page.must_drain(), run);
    tx.invalidate(page.mapped, run);
    let mut rest = Some(run);
    while let Some(run) = rest {
        let room = tx.memory.room_on_host(HOST_MEMORY, run, &tx.draft.flight.change);
        let (memory, count) = room.expect("the host was found to have room");
        let (part, beyond) = run.split(count);
        tx.relocate(part, page.owner, memory, Cause::Migration);
        rest = beyond;
    }
    tx.draft.cause.get_or_insert(Cause::Migration);
    tx.memory.statistics.synchronised += u64::from(run.count);
}
