//! The times when jobs begin, end, and begin again.

use octavo_manager::SpaceId;

use crate::engine::event::Kind;
use crate::machine::node::Node;
use crate::machine::occurrence::{Happening, Listen};

/// Pause before looking again whether plans still hold pages: a microsecond. Jobs that begin again and actions of whole
/// programs wait in this way.
pub(in crate::machine) const BUSY_PAUSE: u64 = 1_000_000;

impl<L: Listen> Node<'_, L> {
    /// The jobs that start at once do, the others later.
    pub(in crate::machine) fn begin_jobs(&mut self) {
        for job in 0..self.jobs.running.len() {
            match (self.jobs.rounds.is_idle(job), self.jobs.running[job].start) {
                (true, _) => {}
                (false, 0) => self.begin_job(job),
                (false, start) => self.hardware.clock.schedule(start, Kind::JobBegins, job as u32),
            }
        }
    }

    /// A job begins, for the first time or again, as a process with memory of its own.
    pub(in crate::machine) fn begin_job(&mut self, job: usize) {
        let now = self.hardware.clock.now();
        if self.programs.is_whole(job) && self.jobs.rounds.ended(job) > 0 && !self.free_what_is_kept(job) {
            return self.hardware.clock.schedule(now + BUSY_PAUSE, Kind::JobBegins, job as u32);
        }
        if self.jobs.rounds.ended(job) > 0 && self.wait_is_in_vain() {
            (self.finished, self.in_vain) = (true, true);
            return;
        }
        self.hardware.say(Happening::JobBegins { job });
        self.jobs.running[job].resting = false;
        if self.programs.is_whole(job) {
            return self.begin_program(job);
        }
        self.allocate(job);
        let state = &mut self.jobs.running[job];
        state.launch = state.program.launches.start;
        state.synchronised = None;
        state.launch_began = now;
        if self.jobs.rounds.ended(job) > 0 {
            return self.begin_launch(job);
        }
        self.hardware.clock.schedule(now, Kind::Launch, job as u32);
    }

    /// Whether the host waits before the next launch of a job: pages that go home are still on their way.
    pub(in crate::machine) fn synchronises(&mut self, job: usize) -> bool {
        let launch = self.jobs.running[job].launch;
        if !self.jobs.synchronised.contains(&launch) {
            return false;
        }
        if self.jobs.running[job].synchronised != Some(launch) {
            self.jobs.running[job].synchronised = Some(launch);
            self.drive(|driver, now, hardware| driver.synchronise(now, SpaceId(job as u16), hardware));
        }
        self.runs(job).into_iter().any(|(run, _)| self.driver.is_busy(run))
    }

    /// The last kernel of a job of launches alone has ended. It begins again when no plan holds any of its memory.
    pub(in crate::machine) fn end_launches(&mut self, job: usize) {
        if !self.jobs.running[job].resting {
            self.jobs.note_memory_use(self.driver.manager());
            self.note_end(job);
        }
        if self.finished {
            return;
        }
        if !self.free_all(job) {
            let again = self.hardware.clock.now() + BUSY_PAUSE;
            return self.hardware.clock.schedule(again, Kind::Launch, job as u32);
        }
        self.begin_anew(job);
    }

    /// All actions of a whole program have ended.
    pub(in crate::machine) fn end_program(&mut self, job: usize) {
        self.jobs.ended = self.jobs.ended.max(self.hardware.clock.now());
        self.note_end(job);
        if !self.finished {
            self.begin_anew(job);
        }
    }

    /// A job has ended; the run has when every job has ended as often as it must.
    fn note_end(&mut self, job: usize) {
        self.hardware.say(Happening::JobEnds { job });
        let state = &mut self.jobs.running[job];
        state.finished.get_or_insert(self.hardware.clock.now());
        state.resting = true;
        self.jobs.rounds.note_end(job);
        self.finished |= self.jobs.rounds.are_enough();
    }

    /// A job that is not over runs again.
    fn begin_anew(&mut self, job: usize) {
        if !self.jobs.rounds.is_over(job) {
            self.begin_job(job);
        }
    }

    /// Whether a job waits for memory that it never gets; capacities that change later may give it some.
    fn wait_is_in_vain(&mut self) -> bool {
        let now = self.hardware.clock.now();
        let changes = self.hardware.config.capacity.change.iter().any(|change| change.at.0 > now);
        !changes && self.jobs.rounds.wait_is_in_vain(&self.driver)
    }
}
