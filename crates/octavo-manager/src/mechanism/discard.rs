//! A program no longer needs what is in its pages.

use crate::contract::ids::PageRun;
use crate::transaction::Transaction;

/// In-flight accesses complete, every translation goes, and every copy is given up: the pages are untouched again.
pub(crate) fn discard(tx: &mut Transaction<'_>, run: PageRun) {
    let page = tx.state(run.first);
    tx.drain(page.must_drain(), run);
    tx.invalidate(page.mapped, run);
    tx.release_all(page.resident, run);
    run.iter().for_each(|page| tx.memory.pages.clean(page));
    tx.memory.statistics.discarded += u64::from(run.count);
}
