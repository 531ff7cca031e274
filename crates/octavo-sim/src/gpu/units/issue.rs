//! A wavefront's step: from an event to its next wait, it issues what its stream says.

use octavo_program::{InstructionMix, Op, OpKind, OpSink};

use crate::gpu::run::Run;
use crate::gpu::units::wave::{ENOUGH, Next, State};
use crate::machine::node::Node;

/// How far ahead of the clock a wavefront may issue before it gives way. Reservations tolerate this much disorder;
/// page tables and faults see accesses this much too early at most.
const AHEAD: u64 = 64_000;

/// Why a wavefront does not go on for now.
enum Stop {
    /// Others wake it.
    Asleep,
    Until(u64),
    Barrier(u64),
    End,
}

impl Node<'_> {
    /// Runs the wavefront in `slot` from operation `op` on until it waits, ends or is too far ahead of the clock.
    pub fn run_wave(&mut self, slot: usize, op: u16) {
        let (gpu, unit) = self.place(slot);
        let paused = self.gpus[gpu].units[unit].paused;
        if paused > self.now {
            return self.schedule_wave(paused, slot);
        }
        let mut next = self.waves.waves[slot].next(op);
        let stop = self.issue((gpu, unit), slot, &mut next);
        self.waves.waves[slot].next_op = next.op;
        match stop {
            Stop::Asleep => {}
            Stop::Until(time) => self.schedule_wave(time, slot),
            Stop::Barrier(time) => self.arrive_at_barrier(slot, time),
            Stop::End => self.end_wave(slot),
        }
    }

    /// Issues operations from `next` on, which then is the one to begin with next time.
    #[inline(always)]
    fn issue(&mut self, (gpu, unit): (usize, usize), slot: usize, next: &mut Next) -> Stop {
        let mut time = self.now;
        while time <= self.now + AHEAD {
            let Some(op) = self.waves.op(slot, *next) else {
                *next = self.refill(slot);
                continue;
            };
            next.op += 1;
            if let Some(after) = self.waves.op(slot, *next) {
                self.hint_operation((gpu, unit), after);
            }
            match op.kind() {
                OpKind::Load | OpKind::Store => time = self.memory(gpu, unit, slot, time, op),
                OpKind::Compute if op.is_vector_only() => time = self.compute(gpu, slot, time, op.count()),
                OpKind::Compute => time = self.mixed((gpu, unit), slot, time, op.instructions()),
                OpKind::Wait => {
                    // It wakes when what it waits for is there, and goes on behind the wait.
                    if let Some(stop) = self.wait_for_memory(slot, time, op.count()) {
                        return stop;
                    }
                }
                OpKind::ScalarLoad => time = self.scalar_load((gpu, unit), slot, time, op),
                OpKind::Fetch => time = self.fetch_code((gpu, unit), slot, time, op.line(), op.count()),
                OpKind::Barrier => return Stop::Barrier(time),
                OpKind::End => {
                    let Some(stop) = self.wait_for_memory(slot, time, op.count()) else { return Stop::End };
                    next.op -= 1;
                    return stop;
                }
            }
        }
        Stop::Until(time)
    }

    /// Fetches the next operations of a wavefront from the workload.
    #[inline(never)]
    fn refill(&mut self, slot: usize) -> Next {
        let (wave, ops) = self.waves.chunk(slot);
        let mut sink = OpSink::new(ops).until(ENOUGH);
        let launch = self.applications[wave.application as usize].launch;
        self.workload.fill(launch, wave.group, u32::from(wave.number), &mut wave.cursor, &mut sink);
        debug_assert!(!sink.is_empty(), "a workload must make progress");
        wave.ops = sink.len() as u16;
        wave.next_op = 0;
        wave.next(0)
    }

    /// Vector-ALU instructions occupy the wavefront's SIMD; returns when they are over.
    #[inline]
    fn compute(&mut self, gpu: usize, slot: usize, time: u64, instructions: u32) -> u64 {
        let simd = &mut self.gpus[gpu].simds[self.waves.waves[slot].simd as usize];
        self.accesses.compute_instructions += u64::from(instructions);
        self.costs.vector_alu.run(simd, time, instructions)
    }

    /// Instructions of several classes, one class after another; returns when they are over.
    #[inline]
    fn mixed(&mut self, (gpu, unit): (usize, usize), slot: usize, time: u64, instructions: InstructionMix) -> u64 {
        let InstructionMix { vector, scalar, local_data, branch } = instructions;
        let Self { costs, gpus, waves, accesses, .. } = self;
        let gpu = &mut gpus[gpu];
        let (simd, unit) = (&mut gpu.simds[waves.waves[slot].simd as usize], &mut gpu.units[unit]);
        let mut time = costs.vector_alu.run(simd, time, vector);
        time = costs.scalar_alu.run(&mut unit.scalar, time, scalar);
        accesses.compute_instructions += u64::from(vector);
        accesses.scalar_instructions += u64::from(scalar);
        if local_data > 0 {
            time = costs.local_data.run(&mut unit.local_data, time, local_data);
            accesses.local_data_instructions += u64::from(local_data);
        }
        if branch > 0 {
            time = costs.branch.run(&mut unit.branch, time, branch);
            accesses.branches += u64::from(branch);
            time = self.refetch_code(slot, time, branch);
        }
        time
    }

    /// Issues the lines of one memory operation; returns when the last was issued.
    #[inline]
    fn memory(&mut self, gpu: usize, unit: usize, slot: usize, time: u64, op: Op) -> u64 {
        let port = &mut self.gpus[gpu].units[unit].port;
        let issued = (*port).max(time);
        let over = issued + u64::from(op.count()) * self.costs.line;
        *port = over;
        let entered = issued + self.costs.memory_pipeline;
        if op.is_ragged() {
            self.access_ragged(gpu, unit, slot, op, entered);
        } else {
            self.access(gpu, unit, slot, Run::of(op), entered);
        }
        // Most workloads keep none, which is foreseen; whether the instruction goes on is not.
        if self.history.is_kept() && !op.continues() {
            self.history.note(slot, self.waves.waves[slot].ready);
        }
        // Therefore a selection, not a branch.
        let next_instruction = over.max(time + self.costs.memory_issue);
        if op.continues() { over } else { next_instruction }
    }

    /// How a wavefront waits for everything it asked for but for its `youngest` latest instructions; `None` if it need
    /// not. Accesses that wait for the driver are waited for in any case.
    #[inline]
    fn wait_for_memory(&mut self, slot: usize, time: u64, youngest: u32) -> Option<Stop> {
        let wave = &mut self.waves.waves[slot];
        if wave.pending > 0 {
            wave.state = State::Pending;
            return Some(Stop::Asleep);
        }
        let there = if youngest == 0 { wave.ready } else { self.history.all_but(slot, youngest) };
        let ready = there.max(time);
        (ready > self.now).then_some(Stop::Until(ready))
    }
}
