//! How the memory of a job of launches alone comes into being before the first of them.

use octavo_manager::{Allocation, Kind, MemoryId, PageRun, SpaceId};
use octavo_program::{Application, Data, Existence, Frames, Workload};

use crate::lot::{Lot, runs_of};

/// What the manager is told, in order.
#[derive(Clone, Copy)]
pub(crate) enum Beginning {
    Allocate(Allocation),
    SetAside(PageRun, MemoryId),
    Bring(PageRun, MemoryId),
}

/// A job among others, and the pages that it has.
pub(crate) struct Memory<'a> {
    pub job: usize,
    pub lot: &'a Lot,
    pub existence: Existence,
    pub program: &'a Application,
    pub workload: &'a dyn Workload,
    pub page_bytes: u64,
}

impl Memory<'_> {
    /// What happens before the first launch. Buffers are allocated one by one; frames and data of those that lie side by
    /// side come together.
    pub fn beginnings(&self) -> Vec<Beginning> {
        let Existence { frames, data } = self.existence;
        let (runs, home) = (runs_of(self.workload, self.program, self.page_bytes), self.home());
        let regions = || joined(runs.iter().map(|(run, _)| *run));
        let allocation = |run: PageRun, asked: u8| Allocation {
            space: SpaceId(self.job as u16),
            gpu: self.lot.gpu_of(asked),
            gpus: self.lot.gpu_mask(),
            ..run.into()
        };
        if (frames, data) == (Frames::Allocation, Data::Allocation) {
            let all = |run| Allocation { kind: Kind::Device, populated: false, compacts: true, ..allocation(run, 1) };
            return regions().into_iter().map(|run| Beginning::Allocate(all(run))).collect();
        }
        let allocated = runs.iter().map(|&(run, asked)| Beginning::Allocate(allocation(run, asked)));
        let kept = regions().into_iter().filter(|_| frames == Frames::Allocation);
        let brought = regions().into_iter().filter(|_| data == Data::Launch);
        let kept = kept.map(|run| Beginning::SetAside(run, home));
        allocated.chain(kept).chain(brought.map(|run| Beginning::Bring(run, home))).collect()
    }

    /// The memory that holds its pages if they exist before they are touched: it has one GPU then.
    fn home(&self) -> MemoryId {
        MemoryId::gpu(self.lot.gpus.first().copied().unwrap_or_default())
    }
}

/// Runs in ascending order; neighbours become one.
fn joined(runs: impl Iterator<Item = PageRun>) -> Vec<PageRun> {
    let mut found: Vec<PageRun> = Vec::new();
    for run in runs {
        match found.last_mut() {
            Some(last) if last.first.0 + last.count == run.first.0 => last.count += run.count,
            _ => found.push(run),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use octavo_manager::PageId;

    use super::*;

    #[test]
    fn neighbours_become_one() {
        let run = |first, count| PageRun { first: PageId(first), count };
        let found = joined([run(0, 3), run(3, 1), run(5, 2), run(7, 2)].into_iter());
        assert_eq!(found, [run(0, 4), run(5, 4)]);
    }
}
