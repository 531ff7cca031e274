//! How decisions are carried out; each mechanism has a file. Mechanisms know no strategy: they take a page from any
//! state to the decided one.

pub(crate) mod accessors;
mod at_home;
pub(crate) mod back;
mod collapse;
mod discard;
mod duplicate;
pub(crate) mod evacuate;
mod everywhere;
mod evict;
mod fetch;
pub(crate) mod home;
mod huge;
mod map_remote;
pub(crate) mod migrate;
mod move_to;
pub(crate) mod pin;
mod populate;
mod reach;
mod removal;
pub(crate) mod repair;
pub(crate) mod room;
mod spare;
pub(crate) mod stage;
mod subscribe;
pub(crate) mod system_wide;
pub(crate) mod unsubscribe;
mod upgrade;
pub(crate) mod victims;
mod ways;

use crate::contract::event::Fault;
use crate::contract::ids::HOST;
use crate::contract::page::Mode;
use crate::contract::plan::Cause;
pub(crate) use crate::mechanism::discard::discard;
use crate::mechanism::room::NoRoom;
use crate::strategies::decision::Decision;
use crate::transaction::Transaction;

/// Serves `fault` as decided; returns the account for its time. On [`NoRoom`] nothing has changed.
pub(crate) fn serve(tx: &mut Transaction<'_>, fault: &Fault, decision: Decision) -> Result<Cause, NoRoom> {
    if tx.memory.system_wide(fault.page) {
        return system_wide::serve(tx, fault, decision);
    }
    let page = tx.state(fault.page);
    if !page.populated() {
        return populate::serve(tx, fault, decision);
    }
    if page.mode == Mode::Spare {
        return spare::serve(tx, fault, decision);
    }
    if homeless(tx, fault) {
        return reach::serve_homeless(tx, fault);
    }
    match reach::within(tx, fault, decision) {
        Decision::Migrate => migrate::serve(tx, fault),
        Decision::MapRemote => Ok(map_remote::serve(tx, fault)),
        Decision::ReadRemote => Ok(map_remote::serve_load(tx, fault)),
        Decision::Duplicate { drain } => duplicate::serve(tx, fault, drain),
        Decision::Replicate => duplicate::replicate_anywhere(tx, fault),
        Decision::To(memory) => move_to::serve(tx, fault, memory),
        Decision::Pin { memory, mappers } => pin::serve(tx, fault, memory, mappers),
        Decision::Subscribe => subscribe::serve(tx, fault),
        Decision::At(home) => at_home::serve(tx, fault, home),
        Decision::Everywhere => Ok(everywhere::serve(tx, fault)),
    }
}

/// Whether the faulting processor lost all its memory to a change of capacity: no page can be brought to it.
fn homeless(tx: &Transaction<'_>, fault: &Fault) -> bool {
    fault.processor != HOST && tx.memory.frames.capacity(fault.processor.memory()) == 0
}
