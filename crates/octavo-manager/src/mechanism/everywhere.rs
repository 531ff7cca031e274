//! The `ideal` bound: a page is copied once and then local to every GPU, until the host wants it back.

use super::map_remote;
use super::upgrade::map_local;
use crate::contract::event::Fault;
use crate::contract::ids::{HOST, HOST_MEMORY, MemoryId, PageRun};
use crate::contract::masks::ProcessorMask;
use crate::contract::page::Mode;
use crate::contract::plan::{Cause, Permission};
use crate::mechanism::room::{NoRoom, make_room};
use crate::transaction::Transaction;

/// The first toucher pays for one copy; a page that was prefetched is on a GPU already and stays there. The page takes
/// up no room from then on, so it is exempt before it moves.
pub(super) fn serve(tx: &mut Transaction<'_>, fault: &Fault) -> Cause {
    let run = PageRun::one(fault.page);
    let page = tx.state(fault.page);
    if fault.processor == HOST || page.mode == Mode::Everywhere || page.replicated() {
        return map_remote::serve(tx, fault);
    }
    let cold = page.owner.on_host();
    if cold {
        // A GPU that lost all its memory may have mapped it there.
        tx.drain(page.must_drain(), run);
        tx.invalidate(page.mapped, run);
    }
    tx.exempt(run);
    if cold {
        tx.relocate(run, page.owner, fault.processor.memory(), Cause::Migration);
        tx.memory.statistics.migrations += 1;
    }
    map_everywhere(tx, run);
    if cold { Cause::Migration } else { Cause::RemoteMap }
}

/// An untouched page comes into being on `gpu` and everywhere.
pub(super) fn populate(tx: &mut Transaction<'_>, run: PageRun, gpu: MemoryId) {
    tx.set_mode(run, Mode::Everywhere);
    tx.memory.statistics.pages_without_room += u64::from(run.count);
    tx.populate(run, gpu, true);
    map_everywhere(tx, run);
}

/// A page that is on its way to be everywhere gets there.
pub(super) fn complete(tx: &mut Transaction<'_>, run: PageRun) {
    let gpus = ProcessorMask::all_gpus(tx.memory.pages.geometry().gpus);
    if !gpus.difference(tx.state(run.first).writable).is_empty() {
        map_everywhere(tx, run);
    }
}

fn map_everywhere(tx: &mut Transaction<'_>, run: PageRun) {
    let gpus = ProcessorMask::all_gpus(tx.memory.pages.geometry().gpus);
    tx.map(gpus, run, None, Permission::ReadWrite);
}

/// The page, alone, goes back to the host, which cannot map it where it is: it is local to no GPU any more, and takes
/// up room again when it comes to one.
pub(super) fn recall(tx: &mut Transaction<'_>, run: PageRun) -> Result<Cause, NoRoom> {
    let page = tx.state(run.first);
    let (memory, _) = make_room(tx, HOST_MEMORY, run)?;
    tx.drain(page.must_drain(), run);
    tx.invalidate(page.mapped, run);
    tx.relocate(run, page.owner, memory, Cause::Migration);
    tx.admit(run);
    map_local(tx, run, memory);
    tx.memory.statistics.migrations += u64::from(run.count);
    Ok(Cause::Migration)
}
