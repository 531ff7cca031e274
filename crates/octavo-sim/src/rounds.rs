//! How often jobs have ended, and whether that is enough.

use crate::job::{Job, Repeat};

/// The jobs of a run, each with how often it has ended.
pub(crate) struct Rounds(Vec<Round>);

struct Round {
    repeat: Repeat,
    is_idle: bool,
    ended: u32,
}

impl Rounds {
    /// None has ended yet.
    pub fn new(jobs: &[Job<'_>]) -> Self {
        Self(jobs.iter().map(|job| Round { repeat: job.repeat, is_idle: job.idle, ended: 0 }).collect())
    }

    /// Whether a job never begins.
    pub fn is_idle(&self, job: usize) -> bool {
        self.0[job].is_idle
    }

    /// How often a job has ended.
    pub fn ended(&self, job: usize) -> u32 {
        self.0[job].ended
    }

    /// A job has ended once more.
    pub fn note_end(&mut self, job: usize) {
        self.0[job].ended += 1;
    }

    /// Whether every job has ended as often as it must: the run is over.
    pub fn are_enough(&self) -> bool {
        (0..self.0.len()).all(|job| self.has_done_enough(job))
    }

    /// Whether a job that has ended runs no more.
    pub fn is_over(&self, job: usize) -> bool {
        let enough = self.has_done_enough(job);
        match self.0[job].repeat {
            Repeat::Times(_) => enough,
            Repeat::UntilAll => self.are_enough(),
            Repeat::Until(other) => enough && self.is_over(other),
        }
    }

    /// Whether a job has ended as often as it must. One that never begins has nothing to do.
    fn has_done_enough(&self, job: usize) -> bool {
        let Round { repeat, is_idle, ended } = self.0[job];
        let least = if let Repeat::Times(times) = repeat { times } else { 1 };
        is_idle || ended >= least
    }
}
