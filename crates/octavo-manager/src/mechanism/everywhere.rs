//! The `ideal` bound: a page is copied once and then local to every GPU.

use super::map_remote;
use crate::transaction::Transaction;
use crate::{Cause, Fault, HOST, Mode, PageRun, Permission, ProcessorMask};

/// The toucher pays for one copy. The page takes up no room from then on, so it is exempt before it moves.
pub(super) fn serve(tx: &mut Transaction<'_>, fault: &Fault) -> Cause {
    let run = PageRun::one(fault.page);
    let page = tx.state(fault.page);
    if fault.processor == HOST || page.mode == Mode::Everywhere || page.replicated() || page.owner != HOST {
        return map_remote::serve(tx, fault);
    }
    tx.invalidate(page.mapped, run);
    tx.set_mode(run, Mode::Everywhere);
    tx.copy(run, page.owner, fault.processor, Cause::Migration);
    let gpus = ProcessorMask::all_gpus(tx.memory.pages.geometry().gpus);
    tx.map(gpus, run, None, Permission::ReadWrite);
    tx.memory.statistics.migrations += 1;
    Cause::Migration
}
