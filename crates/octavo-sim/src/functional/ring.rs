//! The turns of jobs on one GPU: all work-groups in flight of one job, then the next job's.

use crate::functional::job::Running;
use crate::functional::turns::Turns;

/// The jobs that run on a GPU.
pub(super) struct Ring {
    jobs: Vec<Turns>,
    /// The job that is next.
    at: usize,
}

impl Ring {
    /// The turns of the jobs that have this GPU.
    pub fn new(gpu: usize, jobs: &[Running<'_>]) -> Self {
        let own = jobs.iter().enumerate().filter_map(|(job, running)| {
            let queue = running.lot.gpus.iter().position(|own| *own == gpu)?;
            Some(Turns::of(job, gpu, queue))
        });
        Self { jobs: own.collect(), at: 0 }
    }

    /// The turns of a job that runs here.
    pub fn of(&mut self, job: usize) -> Option<&mut Turns> {
        self.jobs.iter_mut().find(|turns| turns.job == job)
    }

    /// Whether a job has no work-group in flight here.
    pub fn is_over(&self, job: usize) -> bool {
        self.jobs.iter().all(|turns| turns.job != job || turns.is_over())
    }

    /// The turns of the job whose work-group is next; `None` if nothing is in flight.
    #[inline]
    pub fn next(&mut self) -> Option<&mut Turns> {
        for _ in 0..=self.jobs.len() {
            if !self.jobs.get(self.at)?.has_had_all() {
                return Some(&mut self.jobs[self.at]);
            }
            self.pass_on();
        }
        None
    }

    /// It is the next job's turn. The previous job may begin its next launch before its next turn.
    pub fn pass_on(&mut self) {
        self.at = (self.at + 1) % self.jobs.len();
        self.jobs[self.at].begin_round();
    }
}
