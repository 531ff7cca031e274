//! The memory of a job while only its launches run: all of its buffers, from its beginning to its end.

use octavo_manager::{Allocation, PageRun, SpaceId};

use crate::lot::runs_of;
use crate::machine::node::Node;
use crate::machine::occurrence::Listen;

impl<L: Listen> Node<'_, L> {
    /// Tells the manager about the buffers of a job, each in the job's own address space.
    pub(super) fn allocate(&mut self, job: usize) {
        for (run, gpu) in self.runs(job) {
            let lot = &self.jobs.running[job].lot;
            let (gpu, gpus) = (lot.gpu_of(gpu), lot.gpu_mask());
            self.hardware.host_frames.iter_mut().for_each(|frames| frames.put(run));
            let allocation = Allocation { space: SpaceId(job as u16), gpu, gpus, ..run.into() };
            self.drive(|driver, now, hardware| driver.allocate(now, allocation, hardware));
        }
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

    pub(super) fn runs(&self, job: usize) -> Vec<(PageRun, u8)> {
        runs_of(self.workload, &self.jobs.running[job].program, self.hardware.page_bytes())
    }
}
