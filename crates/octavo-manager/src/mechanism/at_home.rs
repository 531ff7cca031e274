//! A page has its place from its allocation on: the first fault by anyone finds it there.

use super::{map_remote, migrate};
use crate::contract::event::Fault;
use crate::contract::ids::{HOST, PageRun, ProcessorId};
use crate::contract::plan::Cause;
use crate::mechanism::room::NoRoom;
use crate::transaction::Transaction;

/// Brings a page that is still on the host to `home` first, unless that has lost all its memory.
pub(super) fn serve(tx: &mut Transaction<'_>, fault: &Fault, home: ProcessorId) -> Result<Cause, NoRoom> {
    if tx.state(fault.page).owner == HOST && home != HOST && tx.memory.frames.capacity(home) > 0 {
        migrate::relocate(tx, PageRun::one(fault.page), home, Cause::Migration)?;
    }
    Ok(map_remote::serve(tx, fault))
}
