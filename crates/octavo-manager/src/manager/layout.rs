//! Memory that lies where it was allocated: device and pinned memory.

use crate::contract::event::Allocation;
use crate::contract::ids::{HOST_MEMORY, MemoryId, PageId, PageRun};
use crate::contract::kind::{Kind, Spread};
use crate::contract::masks::ProcessorMask;
use crate::contract::plan::Plan;
use crate::manager::Manager;
use crate::mechanism::repair::map_for_good;
use crate::mechanism::room::{NoRoom, make_room};
use crate::memories::frameless::Frameless;
use crate::strategies::sizing::LargeEntry;
use crate::transaction::Transaction;
use crate::transaction::draft::Draft;

impl Manager {
    /// Gives pages that stay their frames, evicting others for them, and maps them on everyone who reaches them.
    pub(super) fn lay_out(&mut self, allocation: &Allocation, plans: &mut Vec<Plan>) {
        let mut draft = self.unfinished.open();
        for (run, memory) in self.homes(allocation) {
            let compacts = allocation.compacts && allocation.kind == Kind::Device;
            self.give_or_await_frames(Frameless { run, memory, compacts }, &mut draft, plans);
        }
        self.unfinished.commit(&mut self.memory, draft, plans);
    }

    /// Pages that come to a GPU later have their frames there already, as far as the allocator gives them some.
    pub(super) fn set_aside(&mut self, run: PageRun, memory: MemoryId, plans: &mut Vec<Plan>) {
        let mut draft = self.unfinished.open();
        self.give_or_await_frames(Frameless { run, memory, compacts: true }, &mut draft, plans);
        self.unfinished.commit(&mut self.memory, draft, plans);
    }

    /// Gives pages that stay frames of their memory, or of the host's memories in order, and sets frames aside for
    /// others. Pages that find none, or that an unfinished plan still holds from before they were freed, wait, unless
    /// they would wait for ever; so do those for which memory is compacted.
    pub(super) fn give_or_await_frames(&mut self, wanted: Frameless, draft: &mut Draft, plans: &mut Vec<Plan>) {
        let Frameless { run, memory, compacts } = wanted;
        let stays = self.memory.pages.kind(run.first).stays();
        if stays && self.never_has_room(run, memory) {
            return self.run_out(memory, run.first);
        }
        let is_held = stays && self.holds(run);
        if is_held || compacts && self.wait_for_large_frames(run, memory.processor(), draft, plans) {
            return self.frameless.push_back(wanted);
        }
        if !stays {
            let physical = self.memory.physical.iter_mut();
            return physical.for_each(|one| one.set_aside(&self.memory.pages, run, memory.processor()));
        }
        if let Err((rest, full)) = self.give_frames(run, memory, draft) {
            self.frameless.push_back(Frameless { run: rest, ..wanted });
            self.run_out_unless_frames_come(full, rest.first);
        }
    }

    fn never_has_room(&self, run: PageRun, memory: MemoryId) -> bool {
        let frames = &self.memory.frames;
        !memory.on_host() && frames.capacity(memory).saturating_sub(frames.staying(memory)) < run.count
    }

    /// Gives frames to as many of the pages as possible; returns the pages without one, and the memory that is full.
    fn give_frames(&mut self, run: PageRun, memory: MemoryId, draft: &mut Draft) -> Result<(), (PageRun, MemoryId)> {
        let mut tx = Transaction { memory: &mut self.memory, draft };
        let zeroed = tx.memory.pages.kind(run.first) == Kind::Pinned;
        let (mut rest, mut most) = (Some(run), run.count);
        while let Some(run) = rest {
            let (part, _) = run.split(most);
            let (memory, count) = match make_room(&mut tx, memory, part) {
                Ok(room) => room,
                Err(_) if part.count > 1 => {
                    most = part.count / 2;
                    continue;
                }
                Err(NoRoom::Frames(full) | NoRoom::LargeFrame(full)) => return Err((run, full)),
            };
            let (part, _) = part.split(count);
            tx.populate(part, memory, zeroed);
            tx.memory.frames.stay(memory, part.count);
            map_for_good(&mut tx, part, memory);
            rest = run.split(part.count).1;
        }
        Ok(())
    }

    /// Tries again to give frames to pages that wait for them.
    pub(super) fn retry_frameless(&mut self, plans: &mut Vec<Plan>) {
        if self.frameless.is_empty() {
            return;
        }
        let mut draft = self.unfinished.open();
        for waiting in std::mem::take(&mut self.frameless) {
            self.give_or_await_frames(waiting, &mut draft, plans);
        }
        self.unfinished.commit(&mut self.memory, draft, plans);
    }

    /// Pages that are freed wait for no frames.
    pub(super) fn forget_frameless(&mut self, freed: PageRun) {
        let end = freed.first.0 + freed.count;
        let outside = |waiting: Frameless| {
            let run = waiting.run;
            let before = run.split(freed.first.0.saturating_sub(run.first.0)).0;
            let after = run.split(end.saturating_sub(run.first.0)).1;
            [Some(before).filter(|part| part.count > 0), after]
                .into_iter()
                .flatten()
                .map(move |run| Frameless { run, ..waiting })
        };
        self.frameless = std::mem::take(&mut self.frameless).into_iter().flat_map(outside).collect();
    }

    /// The GPUs of the program that allocates.
    pub(super) fn gpus_of(&self, allocation: &Allocation) -> ProcessorMask {
        let all = ProcessorMask::all_gpus(self.geometry().gpus);
        if allocation.gpus.is_empty() { all } else { allocation.gpus.intersection(all) }
    }

    /// The places of the pages of an allocation that stays, in ascending runs.
    fn homes(&mut self, allocation: &Allocation) -> Vec<(PageRun, MemoryId)> {
        let (run, gpus) = (allocation.run, self.gpus_of(allocation));
        match (allocation.kind, allocation.gpu, allocation.spread) {
            (Kind::Pinned, ..) => vec![(run, HOST_MEMORY)],
            (_, Some(gpu), _) => vec![(run, gpu.memory())],
            (_, None, Spread::Interleaved) => {
                let parts = parts_of(run, self.piece());
                let dealt = self.dealer.deal(gpus, parts.len() as u32);
                let home = |turn| self.dealer.home(dealt, turn).memory();
                parts.into_iter().zip(0..).map(|(part, turn)| (part, home(turn))).collect()
            }
            (_, None, Spread::Split) => {
                let (piece, end) = (u64::from(self.piece()), u64::from(run.first.0 + run.count));
                let edge = |turn: usize| {
                    let page = u64::from(run.first.0) + u64::from(run.count) * turn as u64 / gpus.len() as u64;
                    if turn == 0 { page } else { page.next_multiple_of(piece).min(end) }
                };
                let part =
                    |turn| PageRun { first: PageId(edge(turn) as u32), count: (edge(turn + 1) - edge(turn)) as u32 };
                let parts = gpus.iter().enumerate().map(|(turn, gpu)| (part(turn), gpu.memory()));
                parts.filter(|(part, _)| part.count > 0).collect()
            }
        }
    }

    /// Pages of the pieces that GPUs get of device memory: a driver that maps blocks by one entry gives none away in
    /// parts.
    fn piece(&self) -> u32 {
        let above = self.coalescing().filter(|large| large.entry == LargeEntry::Above);
        above.map_or(1, |large| large.pages)
    }
}

/// The parts of a run in pieces of this many pages; the first and the last may have fewer.
fn parts_of(run: PageRun, piece: u32) -> Vec<PageRun> {
    let (mut parts, mut rest) = (Vec::new(), Some(run).filter(|run| run.count > 0));
    while let Some(left) = rest {
        let (part, after) = left.split(piece - left.first.0 % piece);
        parts.push(part);
        rest = after;
    }
    parts
}
