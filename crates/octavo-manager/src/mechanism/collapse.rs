//! All copies of a page but one are removed.

use super::upgrade::map_local;
use crate::contract::event::Fault;
use crate::contract::ids::PageRun;
use crate::contract::page::Mode;
use crate::contract::plan::Cause;
use crate::mechanism::room::{NoRoom, make_room};
use crate::pages::state::PageState;
use crate::transaction::Transaction;

/// Makes the faulting processor the only holder of a replicated page. If it holds a replica, nothing is copied.
pub(super) fn serve(tx: &mut Transaction<'_>, fault: &Fault) -> Result<Cause, NoRoom> {
    let run = PageRun::one(fault.page);
    let page = tx.state(fault.page);
    let holds = page.resident.near(fault.processor);
    let room = if holds { None } else { Some(make_room(tx, fault.processor.memory(), run)?) };
    silence(tx, run, &page);
    if let Some((memory, _)) = room {
        tx.relocate(run, page.owner, memory, Cause::WriteCollapse);
    }
    let holders = tx.state(fault.page).resident;
    let own = holders.of(fault.processor).expect("it holds a copy by now");
    tx.release_all(holders.without(own), run);
    tx.set_mode(run, Mode::Plain);
    map_local(tx, run, own);
    tx.used(own, run);
    tx.memory.statistics.collapses += 1;
    Ok(Cause::WriteCollapse)
}

/// Leaves the owner's copy of a replicated page, unmapped everywhere.
pub(super) fn to_owner(tx: &mut Transaction<'_>, run: PageRun) {
    let page = tx.state(run.first);
    silence(tx, run, &page);
    tx.release_all(page.resident.without(page.owner), run);
    tx.set_mode(run, Mode::Plain);
}

/// The page is no longer accessed. Readers of a replica need no drain: they have no writes to lose.
fn silence(tx: &mut Transaction<'_>, run: PageRun, page: &PageState) {
    tx.drain(page.must_drain(), run);
    tx.invalidate(page.mapped, run);
}
