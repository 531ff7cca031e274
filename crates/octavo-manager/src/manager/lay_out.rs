//! Memory that lies where it was allocated: device and pinned memory.

use crate::contract::event::Allocation;
use crate::contract::ids::{HOST_MEMORY, MemoryId, PageId, PageRun};
use crate::contract::kind::{Kind, Spread};
use crate::contract::masks::ProcessorMask;
use crate::contract::plan::Plan;
use crate::manager::Manager;
use crate::mechanism::repair::map_for_good;
use crate::mechanism::room::make_room;
use crate::transaction::Transaction;
use crate::transaction::draft::Draft;

impl Manager {
    /// Gives pages that stay their frames, evicting others for them, and maps them on everyone who reaches them.
    pub(super) fn lay_out(&mut self, allocation: &Allocation, plans: &mut Vec<Plan>) {
        let mut draft = self.unfinished.open();
        for (run, memory) in self.homes(allocation) {
            if !self.give_frames(run, memory, &mut draft) {
                self.run_out(memory, run.first);
                break;
            }
        }
        self.unfinished.commit(&mut self.memory, draft, plans);
    }

    /// Gives pages that stay frames of `memory`, or of the host's memories in order; whether there is room.
    pub(super) fn give_frames(&mut self, run: PageRun, memory: MemoryId, draft: &mut Draft) -> bool {
        let mut tx = Transaction { memory: &mut self.memory, draft };
        let zeroed = tx.memory.pages.kind(run.first) == Kind::Pinned;
        let mut rest = Some(run);
        while let Some(run) = rest {
            let Ok((memory, count)) = make_room(&mut tx, memory, run) else { return false };
            let (part, beyond) = run.split(count);
            tx.populate(part, memory, zeroed);
            tx.memory.frames.stay(memory, part.count);
            map_for_good(&mut tx, part, memory);
            rest = beyond;
        }
        true
    }

    /// The GPUs of the program that allocates.
    pub(super) fn gpus_of(&self, allocation: &Allocation) -> ProcessorMask {
        let all = ProcessorMask::all_gpus(self.geometry().gpus);
        if allocation.gpus.is_empty() { all } else { allocation.gpus.intersection(all) }
    }

    /// Where the pages of an allocation that stays lie, in ascending runs.
    fn homes(&mut self, allocation: &Allocation) -> Vec<(PageRun, MemoryId)> {
        let (run, gpus) = (allocation.run, self.gpus_of(allocation));
        match (allocation.kind, allocation.gpu, allocation.spread) {
            (Kind::Pinned, ..) => vec![(run, HOST_MEMORY)],
            (_, Some(gpu), _) => vec![(run, gpu.memory())],
            (_, None, Spread::Interleaved) => {
                let dealt = self.dealer.deal(gpus, run.count);
                let home = |offset| self.dealer.home(dealt, offset).memory();
                (0..run.count).map(|offset| (PageRun::one(PageId(run.first.0 + offset)), home(offset))).collect()
            }
            (_, None, Spread::Split) => {
                let edge = |turn: usize| (u64::from(run.count) * turn as u64 / gpus.len() as u64) as u32;
                let part =
                    |turn| PageRun { first: PageId(run.first.0 + edge(turn)), count: edge(turn + 1) - edge(turn) };
                let parts = gpus.iter().enumerate().map(|(turn, gpu)| (part(turn), gpu.memory()));
                parts.filter(|(part, _)| part.count > 0).collect()
            }
        }
    }
}
