//! A wavefront's step: from an event to its next wait, it issues the operations of its stream.

use octavo_program::{InstructionMix, Op, OpKind};

use crate::gpu::run::Run;
use crate::gpu::units::issue::Stop;
use crate::gpu::units::stalls::{Stall, Tally};
use crate::gpu::units::wave::Next;
use crate::machine::hardware::Hardware;
use crate::machine::node::Node;
use crate::machine::occurrence::Listen;

/// How far ahead of the clock a wavefront may issue before it gives way. Reservations tolerate this much disorder;
/// page tables and faults see accesses this much too early at most.
pub(super) const AHEAD: u64 = 64_000;

impl<L: Listen> Node<'_, L> {
    /// Runs the wavefront in `slot` from operation `op` on until it waits, ends or is too far ahead of the clock.
    pub(super) fn run_wave(&mut self, slot: usize, op: u16) {
        self.run_wave_by(slot, op, Self::issue);
    }

    /// Like the function above; `issue` says how.
    #[inline(always)]
    pub(super) fn run_wave_by(
        &mut self,
        slot: usize,
        op: u16,
        issue: impl FnOnce(&mut Self, (usize, usize), usize, &mut Next, &mut Tally) -> Stop,
    ) {
        let (gpu, unit) = self.hardware.waves.place(slot);
        let goes_on = self.hardware.issue_time(gpu, unit);
        let now = self.hardware.clock.now();
        self.hardware.say_woken(slot);
        if goes_on > now {
            self.hardware.say_stalled(slot, Stall::Fault, None, goes_on - now);
            return self.hardware.schedule_wave(goes_on, slot);
        }
        let mut next = self.hardware.waves.next(slot, op);
        let mut tally = Tally::begin(self.hardware.waves.is_within(slot));
        let stop = issue(self, (gpu, unit), slot, &mut next, &mut tally);
        self.hardware.say_issued(slot, &tally);
        self.hardware.waves.stop_at(slot, next, tally.is_within());
        match stop {
            Stop::Asleep => {}
            Stop::Until(time) => self.hardware.schedule_wave(time, slot),
            Stop::Barrier(time) => self.hardware.arrive_at_barrier(slot, time),
            Stop::End => self.end_wave(slot),
        }
    }

    /// Issues operations from `next` on, which then is the one to begin with next time.
    #[inline(always)]
    fn issue(&mut self, (gpu, unit): (usize, usize), slot: usize, next: &mut Next, tally: &mut Tally) -> Stop {
        let mut time = self.hardware.clock.now();
        while time <= self.hardware.clock.now() + AHEAD {
            let Some(op) = self.hardware.waves.op(slot, *next) else {
                *next = self.refill(slot);
                continue;
            };
            next.op += 1;
            if let Some(after) = self.hardware.waves.op(slot, *next) {
                self.hardware.gpus[gpu].hint_operation(unit, after);
            }
            match op.kind() {
                OpKind::Load | OpKind::Store => time = self.memory((gpu, unit), slot, time, op, tally),
                OpKind::Compute if self.hardware.config.compute.books_in_buckets => {
                    time = self.hardware.compute_timed((gpu, unit), slot, time, op.instructions(), tally);
                }
                OpKind::Compute if op.is_vector_only() => {
                    time = self.hardware.compute(gpu, slot, time, op.count(), tally)
                }
                OpKind::Compute => time = self.hardware.mixed((gpu, unit), slot, time, op.instructions(), tally),
                OpKind::Wait => {
                    // It wakes when its data has arrived, and goes on behind the wait.
                    if let Some(stop) = self.wait(slot, time, op.count()) {
                        return stop;
                    }
                }
                OpKind::ScalarLoad => time = self.scalar_load((gpu, unit), slot, time, op, tally),
                OpKind::Fetch => time = self.hardware.run_on(slot, time, op, tally),
                OpKind::Barrier => return Stop::Barrier(time),
                OpKind::End => {
                    let Some(stop) = self.wait(slot, time, op.count()) else { return Stop::End };
                    next.op -= 1;
                    return stop;
                }
            }
        }
        Stop::Until(time)
    }

    /// Fetches the next operations of a wavefront from the workload.
    #[inline(never)]
    pub(super) fn refill(&mut self, slot: usize) -> Next {
        let Self { hardware, jobs, workload, .. } = self;
        hardware.waves.refill(slot, |program, (group, number), cursor, sink| {
            workload.fill(jobs.running[program].launch, group, number, cursor, sink);
        })
    }

    #[inline]
    pub(super) fn wait(&mut self, slot: usize, time: u64, youngest: u32) -> Option<Stop> {
        self.hardware.waves.wait_for_memory(slot, self.hardware.clock.now(), time, youngest)
    }

    /// Issues the lines of one memory operation; returns when the last was issued.
    #[inline]
    pub(super) fn memory(
        &mut self,
        (gpu, unit): (usize, usize),
        slot: usize,
        time: u64,
        op: Op,
        tally: &mut Tally,
    ) -> u64 {
        let duration = self.hardware.costs.pipeline(op);
        let now = self.hardware.clock.now();
        let issued = self.hardware.gpus[gpu].issue_lines(unit, (now, time), duration);
        let behind_gather = self.hardware.gpus[gpu].unit(unit).behind_gather(tally.gathers(op));
        let over = issued + duration;
        let entered = issued + self.hardware.costs.memory_pipeline;
        if op.is_ragged() {
            self.access_ragged(gpu, unit, slot, op, entered);
        } else {
            self.access(gpu, unit, slot, Run::of(op), entered);
        }
        self.hardware.waves.note_issued(slot, op);
        // Whether the instruction goes on is not foreseen: therefore a selection, not a branch.
        let next_instruction = over.max(time + self.hardware.costs.memory_issue);
        let after = if op.continues() { over } else { next_instruction };
        tally.issued(op, (issued - time, behind_gather), after - issued);
        after
    }
}

impl<L: Listen> Hardware<'_, L> {
    /// Vector-ALU instructions occupy the wavefront's SIMD; returns their end.
    #[inline]
    fn compute(&mut self, gpu: usize, slot: usize, time: u64, instructions: u32, tally: &mut Tally) -> u64 {
        self.accesses.compute_instructions += u64::from(instructions);
        let over = self.gpus[gpu].run_vector(self.waves.simd(slot), &self.costs, time, instructions);
        tally.computed(over - time, (self.costs.vector_alu.lasts(instructions.into()), 0));
        over
    }

    /// Instructions of several classes; returns their end.
    #[inline]
    fn mixed(
        &mut self,
        (gpu, unit): (usize, usize),
        slot: usize,
        time: u64,
        instructions: InstructionMix,
        tally: &mut Tally,
    ) -> u64 {
        let Self { costs, gpus, waves, accesses, .. } = self;
        let over = gpus[gpu].run_mixed((unit, waves.simd(slot)), costs, time, instructions, accesses);
        tally.computed(over - time, self.costs.alone(instructions));
        self.branch(slot, over, instructions.branch, tally)
    }

    /// The wavefront has passed branches at `time`; returns when it has its code.
    #[inline]
    pub(super) fn branch(&mut self, slot: usize, time: u64, branches: u32, tally: &mut Tally) -> u64 {
        let over = self.fetch.branched(self.waves.fetcher(slot), time, branches, &mut self.accesses);
        tally.fetched(over - time);
        over
    }

    /// The wavefront runs on into lines of code; returns when it has the last.
    #[inline]
    pub(super) fn run_on(&mut self, slot: usize, time: u64, op: Op, tally: &mut Tally) -> u64 {
        let over = self.fetch.run_on(self.waves.fetcher(slot), time, op.line(), op.count(), &mut self.accesses);
        tally.fetched(over - time);
        over
    }

    /// The time when `unit` can issue: now, or at the end of a drain.
    #[inline]
    pub(super) fn issue_time(&self, gpu: usize, unit: usize) -> u64 {
        self.gpus[gpu].issue_time(unit, self.clock.now())
    }

    /// The wavefront in `slot` continues at `time`.
    #[inline]
    pub(super) fn schedule_wave(&mut self, time: u64, slot: usize) {
        self.clock.schedule_wave(time, slot, self.waves.next_op(slot));
    }
}
