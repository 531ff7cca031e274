//! Memory that lies where it was allocated: device and pinned memory.

use crate::contract::event::Allocation;
use crate::contract::ids::{HOST, PageId, PageRun, ProcessorId, ProcessorMask};
use crate::contract::kind::{Kind, Spread};
use crate::contract::plan::{Permission, Plan};
use crate::manager::Manager;
use crate::mechanism::room::make_room;
use crate::memories::usage::OutOfMemory;
use crate::transaction::Transaction;
use crate::transaction::flight::Flight;

impl Manager {
    /// Gives pages that stay their frames, evicting others for them, and maps them on everyone who reaches them.
    pub(super) fn lay_out(&mut self, allocation: &Allocation, plans: &mut Vec<Plan>) {
        let mut draft = self.unfinished.open();
        for (run, memory) in self.homes(allocation) {
            let mut tx = Transaction { memory: &mut self.memory, draft: &mut draft };
            if make_room(&mut tx, memory, run).is_err() {
                let out = OutOfMemory { processor: memory, page: run.first, space: allocation.space };
                self.out_of_memory.get_or_insert(out);
                break;
            }
            tx.populate(run, memory, allocation.kind == Kind::Pinned);
            tx.memory.frames.stay(memory, run.count);
            let everyone = ProcessorMask::all_gpus(tx.memory.pages.geometry().gpus).with(HOST);
            let mappers = tx.memory.reach.who_can_map(memory, everyone);
            tx.map(mappers, run, Some(memory), Permission::ReadWrite);
        }
        self.unfinished.commit(&mut self.memory, draft, plans);
    }

    /// A plan fails that was to lay out pages that stay: they have no memory, and nobody can ever touch them.
    pub(super) fn give_up_allocation(&mut self, flight: &Flight) {
        for (page, before) in &flight.undo {
            let memory = &mut self.memory;
            if memory.pages.kind(*page).stays() && !before.populated() {
                let processor = memory.pages.state(*page).owner;
                memory.frames.stays_no_more(processor);
                let out = OutOfMemory { processor, page: *page, space: memory.pages.space(*page) };
                self.out_of_memory.get_or_insert(out);
            }
        }
    }

    /// Where the pages of an allocation that stays lie, in ascending runs.
    fn homes(&mut self, allocation: &Allocation) -> Vec<(PageRun, ProcessorId)> {
        let (run, gpus) = (allocation.run, self.geometry().gpus as u32);
        match (allocation.kind, allocation.gpu, allocation.spread) {
            (Kind::Pinned, ..) => vec![(run, HOST)],
            (_, Some(gpu), _) => vec![(run, gpu)],
            (_, None, Spread::Interleaved) => {
                let before = self.dealer.deal(run.count);
                let home = |offset| self.dealer.home(before, offset);
                (0..run.count).map(|offset| (PageRun::one(PageId(run.first.0 + offset)), home(offset))).collect()
            }
            (_, None, Spread::Split) => {
                let edge = |gpu: u32| (u64::from(run.count) * u64::from(gpu) / u64::from(gpus)) as u32;
                let part = |gpu| PageRun { first: PageId(run.first.0 + edge(gpu)), count: edge(gpu + 1) - edge(gpu) };
                let parts = (0..gpus).map(|gpu| (part(gpu), ProcessorId::gpu(gpu as usize)));
                parts.filter(|(part, _)| part.count > 0).collect()
            }
        }
    }
}
