//! A fault on a page that a GPU keeps for others: it comes back to the processor that touches it.

use super::{map_remote, migrate, populate};
use crate::contract::event::Fault;
use crate::contract::ids::PageRun;
use crate::contract::plan::Cause;
use crate::mechanism::room::NoRoom;
use crate::strategies::decision::Decision;
use crate::transaction::Transaction;

/// Serves a fault on a page that is kept for others. No processor maps such a page: it goes where an untouched page
/// would be created.
pub(super) fn serve(tx: &mut Transaction<'_>, fault: &Fault, decision: Decision) -> Result<Cause, NoRoom> {
    let (run, memory) = (PageRun::one(fault.page), populate::place(tx, fault.processor, decision));
    migrate::relocate(tx, run, memory, Cause::Migration)?;
    if memory.processor() != fault.processor {
        map_remote::serve_come(tx, fault);
    }
    Ok(Cause::Migration)
}
