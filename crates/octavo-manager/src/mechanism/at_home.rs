//! A page has its place from its allocation on: the first fault of any processor finds it there.

use super::{map_remote, migrate};
use crate::contract::event::Fault;
use crate::contract::ids::{MemoryId, PageRun};
use crate::contract::plan::Cause;
use crate::mechanism::room::NoRoom;
use crate::pages::state::PageState;
use crate::transaction::Transaction;

/// Brings a page that is still on the host to `home` first, unless that has lost all its memory.
pub(super) fn serve(tx: &mut Transaction<'_>, fault: &Fault, home: MemoryId) -> Result<Cause, NoRoom> {
    let page = tx.state(fault.page);
    if !page.replicated() && page.owner.processor() != place(tx, &page, home).processor() {
        migrate::relocate(tx, PageRun::one(fault.page), home, Cause::Migration)?;
        if tx.state(fault.page).satisfies(fault) && home.processor() != fault.processor {
            return Ok(Cause::RemoteMap);
        }
    }
    Ok(map_remote::serve(tx, fault))
}

/// The future place of the page.
pub(super) fn place(tx: &Transaction<'_>, page: &PageState, home: MemoryId) -> MemoryId {
    let comes = page.owner.on_host() && tx.memory.frames.capacity(home) > 0;
    if comes { home } else { page.owner }
}
