//! What a job has of memory while only its launches run: all of its buffers, from its beginning to its end.

use octavo_manager::{Allocation, PageId, PageRun, ProcessorId, SpaceId};
use octavo_program::pages_of;

use crate::machine::happening::Listen;
use crate::machine::node::Node;

impl<L: Listen> Node<'_, L> {
    /// Tells the manager about the buffers of a job, each in the job's own address space.
    pub(super) fn allocate(&mut self, job: usize) {
        for (run, gpu) in self.runs(job) {
            let (gpu, gpus) = (self.gpu_of(job, gpu), self.jobs.running[job].gpu_mask());
            let allocation = Allocation { space: SpaceId(job as u16), gpu, gpus, ..run.into() };
            self.drive(|driver, now, hardware| driver.allocate(now, allocation, hardware));
        }
    }

    /// The GPU that a program asked for, which counts those that it has from 1 on. One recorded on more GPUs than it has
    /// now may have asked for one that is not there.
    pub(in crate::machine) fn gpu_of(&self, job: usize, asked: u8) -> Option<ProcessorId> {
        let number = usize::from(asked).checked_sub(1)?;
        self.jobs.running[job].gpus.get(number).copied().map(ProcessorId::gpu)
    }

    /// Gives all of it back; whether no plan holds any of it any more.
    pub(super) fn free_all(&mut self, job: usize) -> bool {
        let runs: Vec<PageRun> = self.runs(job).into_iter().map(|(run, _)| run).collect();
        self.give_back(&runs)
    }

    /// Gives pages back: those that a plan holds are free when it ends. Whether all are.
    pub(in crate::machine) fn give_back(&mut self, runs: &[PageRun]) -> bool {
        for &run in runs {
            if self.driver.manager().page(run.first).allocated && !self.driver.is_freeing(run.first) {
                self.drive(|driver, now, hardware| driver.free(now, run, 0, hardware));
            }
        }
        !runs.iter().any(|run| self.driver.manager().page(run.first).allocated)
    }

    /// Pages of each buffer of a job, and the GPU that it asked for.
    fn runs(&self, job: usize) -> Vec<(PageRun, u8)> {
        let own = self.jobs.running[job].program.buffers.clone();
        let buffers = self.workload.buffers();
        let runs = buffers.iter().zip(pages_of(buffers, self.hardware.page_bytes())).enumerate();
        runs.filter(|(index, (_, pages))| own.contains(index) && !pages.is_empty())
            .map(|(_, (buffer, pages))| {
                let run = PageRun { first: PageId(pages.start as u32), count: (pages.end - pages.start) as u32 };
                (run, buffer.gpu)
            })
            .collect()
    }
}
