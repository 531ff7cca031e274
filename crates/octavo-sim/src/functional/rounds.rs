//! Jobs advance in rounds: each job without an action in progress begins its next one, then each thread of the host
//! touches a page, and each GPU has a turn.

use octavo_manager::{Allocation, PageId, PageRun};
use octavo_program::Existence;

use crate::beginning::{Beginning, Memory};
use crate::functional::job::{Doing, Running};
use crate::functional::machine::Machine;
use crate::functional::run::{Run, Stop};
use crate::functional::turns::Streams;
use crate::lot::runs_of;
use crate::machine::occurrence::{Happening, Listen};

/// Turns between looks at the progress callback: a few milliseconds of work.
const TURNS_BETWEEN_REPORTS: u32 = 1 << 12;

impl<L: Listen> Run<'_, L> {
    /// Runs all jobs until each has ended as often as it must.
    pub fn all(&mut self) -> Result<(), Stop> {
        for job in 0..self.jobs.len() {
            if !self.rounds.is_idle(job) {
                self.begin(job);
            }
        }
        let mut turns = 0;
        loop {
            let mut goes_on = false;
            for job in 0..self.jobs.len() {
                goes_on |= self.go_on(job)?;
                if self.rounds.are_enough() {
                    return Ok(());
                }
            }
            goes_on |= self.host_turns()?;
            let taken = self.gpu_turns()?;
            if !goes_on && taken == 0 {
                return Err(Stop::Halted);
            }
            turns += taken;
            if turns >= TURNS_BETWEEN_REPORTS {
                turns = 0;
                self.report()?;
            }
        }
    }

    /// A job begins actions until one of them takes time or the job has ended. Whether there was anything to do.
    fn go_on(&mut self, job: usize) -> Result<bool, Stop> {
        let (mut did, mut has_ended) = (false, false);
        while self.is_free(job)? {
            did = true;
            if self.do_next(job) {
                if self.machine.halted() {
                    return Err(Stop::Halted);
                }
                continue;
            }
            // At most one end a round: others have their turns, too.
            if has_ended {
                break;
            }
            self.end(job);
            if self.rounds.wait_is_in_vain(&self.machine.driver) {
                return Err(Stop::Halted);
            }
            has_ended = true;
        }
        Ok(did)
    }

    /// Whether nothing of a job is under way. Ends the actions that have just finished.
    fn is_free(&mut self, job: usize) -> Result<bool, Stop> {
        let is_over = match &self.jobs[job].doing {
            Doing::Nothing => return Ok(true),
            Doing::Resting => return Ok(false),
            Doing::Launch => self.rings.iter().all(|ring| ring.is_over(job)),
            Doing::Host(threads) => threads.is_empty(),
            Doing::Frames(run) => !self.machine.driver.manager().awaits_frames(*run),
        };
        if !is_over {
            return Ok(false);
        }
        match std::mem::replace(&mut self.jobs[job].doing, Doing::Nothing) {
            Doing::Launch => self.end_launch(job),
            Doing::Host(_) => self.report()?,
            _ => {}
        }
        Ok(true)
    }

    /// A job begins its next action. Whether there was one.
    fn do_next(&mut self, job: usize) -> bool {
        let state = &mut self.jobs[job];
        if let Some(whole) = &mut state.whole {
            let Some(id) = whole.go_on() else { return false };
            self.act(job, id);
            return true;
        }
        let (launch, end) = (state.launch, state.program.launches.end);
        if launch < end {
            self.begin_launch(job, launch);
        }
        launch < end
    }

    /// Each GPU has a turn; how many had something to do in it.
    #[inline]
    fn gpu_turns(&mut self) -> Result<u32, Stop> {
        let mut taken = 0;
        for ring in &mut self.rings {
            let Some(turns) = ring.next() else { continue };
            let state = &mut self.jobs[turns.job];
            let streams = Streams { workload: self.workload, launch: state.launch, turn: self.turn };
            let before = self.machine.tables.lines;
            self.groups_done += u64::from(turns.next(&mut self.machine, streams, &mut state.queues));
            if turns.is_over() {
                ring.pass_on();
            }
            state.lines += self.machine.tables.lines - before;
            taken += 1;
            if self.machine.halted() {
                return Err(Stop::Halted);
            }
        }
        Ok(taken)
    }

    /// A job begins, for the first time or again, as a process with memory of its own.
    fn begin(&mut self, job: usize) {
        self.machine.tables.say(Happening::JobBegins { job });
        self.jobs[job].begin();
        if let Some(whole) = &self.jobs[job].whole {
            let program = whole.program;
            program.loaded().for_each(|buffer| _ = self.allocate_buffer(job, buffer));
        } else {
            self.allocate_launches(job);
        }
    }

    /// A job has ended: it rests, or begins again. Its remaining memory is freed, unless the run ends.
    fn end(&mut self, job: usize) {
        self.machine.tables.say(Happening::JobEnds { job });
        self.rounds.note_end(job);
        self.jobs[job].doing = Doing::Resting;
        if self.rounds.are_enough() {
            return;
        }
        let again = !self.rounds.is_over(job);
        match &self.jobs[job].whole {
            None => self.give_back(&self.runs(job)),
            Some(whole) if again => {
                let kept: Vec<PageRun> = whole.program.kept().map(|buffer| self.pages_of_buffer(buffer)).collect();
                self.give_back(&kept);
            }
            Some(_) => {}
        }
        if again && !self.machine.halted() {
            let own = self.workload.buffers()[self.jobs[job].program.buffers.clone()].iter();
            self.machine.tables.placed.forget(own);
            self.begin(job);
        }
    }

    /// Only launches run: all memory of a job is there from its beginning, filled by the host.
    fn allocate_launches(&mut self, job: usize) {
        let page_bytes = self.machine.page_bytes();
        let Running { lot, existence, program, .. } = &self.jobs[job];
        let memory = Memory { job, lot, existence: *existence, program, workload: self.workload, page_bytes };
        let beginnings = memory.beginnings();
        if *existence != Existence::default() {
            self.jobs[job].doing = Doing::Frames(self.span(job));
        }
        for beginning in beginnings {
            match beginning {
                Beginning::Allocate(allocation) => {
                    self.allocate(allocation);
                }
                Beginning::SetAside(run, to) => {
                    self.machine.drive(|driver, now, tables| driver.set_aside(now, run, to, tables));
                }
                Beginning::Bring(run, to) => {
                    self.machine.drive(|driver, now, tables| driver.prefetch(now, run, to, tables));
                }
            }
        }
    }

    /// From the first to the last page of a job.
    fn span(&self, job: usize) -> PageRun {
        let runs = self.runs(job);
        let first = runs.first().map_or(PageId(0), |run| run.first);
        PageRun { first, count: runs.last().map_or(0, |last| last.first.0 + last.count - first.0) }
    }

    /// Pages come into being.
    pub fn allocate(&mut self, allocation: Allocation) {
        self.machine.tables.entries.allocate(&allocation);
        self.machine.drive(|driver, now, tables| driver.allocate(now, allocation, tables));
        if allocation.populated && !allocation.kind.stays() && !self.config.host.memories.is_empty() {
            self.place_on_host(allocation.run);
        }
    }

    /// Pages that did not fit the host's first memory are in another.
    fn place_on_host(&mut self, run: PageRun) {
        for page in run.iter() {
            let owner = self.machine.driver.manager().page(page).owner;
            if owner.on_host() {
                self.machine.tables.entries.place(page, owner);
            }
        }
    }

    fn runs(&self, job: usize) -> Vec<PageRun> {
        let runs = runs_of(self.workload, &self.jobs[job].program, self.machine.page_bytes());
        runs.into_iter().map(|(run, _)| run).collect()
    }

    /// Gives pages back. No plan holds them for long if each step is done at once.
    fn give_back(&mut self, runs: &[PageRun]) {
        for &run in runs {
            let is_there = |machine: &Machine<L>| machine.driver.manager().page(run.first).allocated;
            if !is_there(&self.machine) {
                continue;
            }
            self.machine.drive(|driver, now, tables| driver.free(now, run, 0, tables));
            while is_there(&self.machine) && !self.machine.halted() {
                self.machine.stuck = !self.machine.skip_ahead();
            }
        }
    }
}
