//! Processors advised to access a page map it at its new place (`uvm-driver.md` section 3: accessed by).

use crate::contract::ids::{PageId, PageRun};
use crate::contract::kind::Advice;
use crate::contract::masks::ProcessorMask;
use crate::contract::page::Mode;
use crate::contract::plan::Permission;
use crate::transaction::Transaction;

/// Maps uniform pages for those who were said to access them and can, unless the pages are replicated. Processors that
/// should have the pages and do not are left out: they should fault, and get them.
pub(crate) fn map(tx: &mut Transaction<'_>, run: PageRun) {
    if tx.memory.pages.advised().is_empty() {
        return;
    }
    let pages: Vec<(PageId, Advice)> = run.iter().map(|page| (page, tx.memory.pages.advised().of(page))).collect();
    for alike in pages.chunk_by(|(_, one), (_, next)| one == next) {
        let (first, advice) = alike[0];
        map_alike(tx, PageRun { first, count: alike.len() as u32 }, &advice);
    }
}

fn map_alike(tx: &mut Transaction<'_>, run: PageRun, advice: &Advice) {
    let page = tx.state(run.first);
    if !page.populated() || page.replicated() || page.mode != Mode::Plain {
        return;
    }
    let away = advice.preferred.filter(|preferred| preferred.processor() != page.owner.processor());
    let named = away.map_or(advice.accessed_by, |preferred| advice.accessed_by.without(preferred.processor()));
    map_for(tx, run, named);
}

/// Maps uniform pages, which have one copy, for each of these processors that can map them and does not yet.
pub(super) fn map_for(tx: &mut Transaction<'_>, run: PageRun, processors: ProcessorMask) {
    let page = tx.state(run.first);
    let mappers = tx.memory.reach.who_can_map(page.owner, processors).difference(page.mapped);
    if !mappers.is_empty() {
        tx.map(mappers, run, Some(page.owner), Permission::ReadWrite);
        tx.memory.statistics.remote_maps += mappers.without(page.owner.processor()).len() as u64 * u64::from(run.count);
    }
}
