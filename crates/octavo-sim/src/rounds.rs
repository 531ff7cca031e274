//! The number of times that jobs have ended, whether that is enough, and whether one waits for room that no other job's
//! end makes.

use octavo_driver::Driver;
use octavo_manager::{SpaceId, Wait};

use crate::job::{Job, Repeat};

/// The jobs of a run, each with how often it has ended.
pub(crate) struct Rounds(Vec<Round>);

struct Round {
    repeat: Repeat,
    is_idle: bool,
    ended: u32,
    waits: Option<Waiting>,
}

/// A job waits for room: which page or fault, and how often each job had ended when that was seen.
struct Waiting {
    wait: Wait,
    ended: Vec<u32>,
}

impl Rounds {
    /// None has ended yet.
    pub fn new(jobs: &[Job<'_>]) -> Self {
        Self(jobs.iter().map(|job| Round { repeat: job.repeat, is_idle: job.idle, ended: 0, waits: None }).collect())
    }

    /// Whether a job never begins.
    pub fn is_idle(&self, job: usize) -> bool {
        self.0[job].is_idle
    }

    /// The number of times that a job has ended.
    pub fn ended(&self, job: usize) -> u32 {
        self.0[job].ended
    }

    /// A job has ended once more.
    pub fn note_end(&mut self, job: usize) {
        self.0[job].ended += 1;
    }

    /// A job has ended and returned its memory, which went to those that waited. Whether some job waits forever:
    /// nothing in progress can make room for it, and all others wait, have ended for good, or have ended again without
    /// a further frame for it. Room that the job itself would give up later, by an action in progress alongside the
    /// waiting one, is not considered.
    pub fn wait_is_in_vain(&mut self, driver: &Driver) -> bool {
        let manager = driver.manager();
        if manager.starving().is_none() || driver.has_frees() {
            return false;
        }
        let ended: Vec<u32> = self.0.iter().map(|round| round.ended).collect();
        for (job, round) in self.0.iter_mut().enumerate() {
            let wait = manager.first_wait(SpaceId(job as u16));
            let as_before = |waiting: &Waiting| Some(waiting.wait) == wait && waiting.ended[job] == ended[job];
            if !round.waits.as_ref().is_some_and(as_before) {
                round.waits = wait.map(|wait| Waiting { wait, ended: ended.clone() });
            }
        }
        let mut waiting = self.0.iter().filter_map(|round| round.waits.as_ref());
        waiting.any(|waiting| (0..self.0.len()).all(|other| self.made_no_room(other, waiting)))
    }

    fn made_no_room(&self, other: usize, waiting: &Waiting) -> bool {
        let Round { is_idle, ended, ref waits, .. } = self.0[other];
        is_idle || waits.is_some() || ended > waiting.ended[other] || self.is_over(other)
    }

    /// Whether every job has run as often as it must: the run ends.
    pub fn are_enough(&self) -> bool {
        (0..self.0.len()).all(|job| self.has_done_enough(job))
    }

    /// Whether a job that has ended does not run again.
    pub fn is_over(&self, job: usize) -> bool {
        let enough = self.has_done_enough(job);
        match self.0[job].repeat {
            Repeat::Times(_) => enough,
            Repeat::UntilAll => self.are_enough(),
            Repeat::Until(other) => enough && self.is_over(other),
        }
    }

    /// Whether a job has ended as often as it must. A job that never begins has nothing to do.
    fn has_done_enough(&self, job: usize) -> bool {
        let Round { repeat, is_idle, ended, .. } = self.0[job];
        let least = if let Repeat::Times(times) = repeat { times } else { 1 };
        is_idle || ended >= least
    }
}
