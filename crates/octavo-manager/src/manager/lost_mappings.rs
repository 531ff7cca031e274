//! Mappings that vanished: another plan took them away.

use crate::contract::event::Fault;
use crate::contract::ids::PageRun;
use crate::contract::masks::ProcessorMask;
use crate::contract::page::Mode;
use crate::contract::plan::{Cause, Permission, Plan};
use crate::manager::Manager;
use crate::transaction::Transaction;
use crate::transaction::flight::Pending;

impl Manager {
    /// Maps the page again as the manager believes it to be mapped. If that is so no longer, the fault is one like any
    /// other.
    pub(super) fn vanished(&mut self, fault: &Fault, plans: &mut Vec<Plan>) {
        if !self.believes_mapped(fault) {
            return self.serve(&[Pending::new(*fault)], plans);
        }
        self.memory.statistics.stale_faults += 1;
        let (page, run, who) =
            (self.memory.pages.state(fault.page), PageRun::one(fault.page), ProcessorMask::only(fault.processor));
        let decreed = (page.mode == Mode::Everywhere).then_some(fault.processor.memory());
        let target = page.resident.of(fault.processor).or(decreed).unwrap_or(page.owner);
        let writable = page.writable.contains(fault.processor);
        let rights = if writable { Permission::ReadWrite } else { Permission::ReadOnly };
        let mut draft = self.unfinished.open();
        draft.cause = Some(Cause::RemoteMap);
        let mut tx = Transaction { memory: &mut self.memory, draft: &mut draft };
        tx.splinter(who, run);
        tx.map(who, run, Some(target), rights);
        draft.wake(*fault);
        self.unfinished.commit(&mut self.memory, draft, plans);
    }
}
