//! Pages that a GPU keeps for others come to where they are needed.

use super::accessors;
use super::upgrade::map_local;
use crate::contract::ids::{MemoryId, PageRun};
use crate::contract::plan::Cause;
use crate::mechanism::room::{NoRoom, make_room};
use crate::transaction::Transaction;

/// Brings pages to a memory, from the GPU that keeps them: it is nearer than the host. Nothing shows whether they are
/// written there, so the host's copy is given up. A memory that has them already keeps them, and copies nothing.
pub(super) fn bring(tx: &mut Transaction<'_>, run: PageRun, to: MemoryId, cause: Cause) -> Result<(), NoRoom> {
    let page = tx.state(run.first);
    if let Some(own) = page.resident.of(to.processor()) {
        settle(tx, run, own);
        return Ok(());
    }
    let mut rest = Some(run);
    while let Some(run) = rest {
        let (memory, count) = make_room(tx, to, run)?;
        let (part, beyond) = run.split(count);
        tx.relocate(part, page.owner, memory, cause);
        settle(tx, part, memory);
        let statistics = &mut tx.memory.statistics;
        let counted = if cause == Cause::Prefetch { &mut statistics.prefetched } else { &mut statistics.migrations };
        *counted += u64::from(part.count);
        statistics.fetched_from_spare += u64::from(part.count);
        rest = beyond;
    }
    Ok(())
}

/// One holder becomes the only one, and the processor near it maps the pages.
fn settle(tx: &mut Transaction<'_>, run: PageRun, holder: MemoryId) {
    let others = tx.state(run.first).resident.without(holder);
    tx.release_all(others, run);
    map_local(tx, run, holder);
    tx.used(holder, run);
    accessors::map(tx, run);
}
