//! A wavefront's step: from an event to its next wait, it issues what its stream says.

use octavo_program::{Op, OpKind, OpSink};

use crate::gpu::run::Run;
use crate::gpu::units::issue::Stop;
use crate::gpu::units::wave::{ENOUGH, Next};
use crate::machine::node::Node;

/// How far ahead of the clock a wavefront may issue before it gives way. Reservations tolerate this much disorder;
/// page tables and faults see accesses this much too early at most.
const AHEAD: u64 = 64_000;

impl Node<'_> {
    /// Runs the wavefront in `slot` from operation `op` on until it waits, ends or is too far ahead of the clock.
    pub fn run_wave(&mut self, slot: usize, op: u16) {
        let (gpu, unit) = self.hardware.place(slot);
        let paused = self.hardware.gpus[gpu].units[unit].paused;
        if paused > self.hardware.now {
            return self.hardware.schedule_wave(paused, slot);
        }
        let mut next = self.hardware.waves.waves[slot].next(op);
        let stop = self.issue((gpu, unit), slot, &mut next);
        self.hardware.waves.waves[slot].next_op = next.op;
        match stop {
            Stop::Asleep => {}
            Stop::Until(time) => self.hardware.schedule_wave(time, slot),
            Stop::Barrier(time) => self.hardware.arrive_at_barrier(slot, time),
            Stop::End => self.end_wave(slot),
        }
    }

    /// Issues operations from `next` on, which then is the one to begin with next time.
    #[inline(always)]
    fn issue(&mut self, (gpu, unit): (usize, usize), slot: usize, next: &mut Next) -> Stop {
        let mut time = self.hardware.now;
        while time <= self.hardware.now + AHEAD {
            let Some(op) = self.hardware.waves.op(slot, *next) else {
                *next = self.refill(slot);
                continue;
            };
            next.op += 1;
            if let Some(after) = self.hardware.waves.op(slot, *next) {
                self.hardware.hint_operation((gpu, unit), after);
            }
            match op.kind() {
                OpKind::Load | OpKind::Store => time = self.memory(gpu, unit, slot, time, op),
                OpKind::Compute if op.is_vector_only() => time = self.hardware.compute(gpu, slot, time, op.count()),
                OpKind::Compute => time = self.hardware.mixed((gpu, unit), slot, time, op.instructions()),
                OpKind::Wait => {
                    // It wakes when what it waits for is there, and goes on behind the wait.
                    if let Some(stop) = self.hardware.wait_for_memory(slot, time, op.count()) {
                        return stop;
                    }
                }
                OpKind::ScalarLoad => time = self.scalar_load((gpu, unit), slot, time, op),
                OpKind::Fetch => time = self.hardware.fetch_code((gpu, unit), slot, time, op.line(), op.count()),
                OpKind::Barrier => return Stop::Barrier(time),
                OpKind::End => {
                    let Some(stop) = self.hardware.wait_for_memory(slot, time, op.count()) else { return Stop::End };
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
        let (wave, ops) = self.hardware.waves.chunk(slot);
        let mut sink = OpSink::new(ops).until(ENOUGH);
        let launch = self.applications[wave.application as usize].launch;
        self.workload.fill(launch, wave.group, u32::from(wave.number), &mut wave.cursor, &mut sink);
        debug_assert!(!sink.is_empty(), "a workload must make progress");
        wave.ops = sink.len() as u16;
        wave.next_op = 0;
        wave.next(0)
    }

    /// Issues the lines of one memory operation; returns when the last was issued.
    #[inline]
    fn memory(&mut self, gpu: usize, unit: usize, slot: usize, time: u64, op: Op) -> u64 {
        let port = &mut self.hardware.gpus[gpu].units[unit].port;
        let issued = (*port).max(time);
        let over = issued + u64::from(op.count()) * self.hardware.costs.line;
        *port = over;
        let entered = issued + self.hardware.costs.memory_pipeline;
        if op.is_ragged() {
            self.access_ragged(gpu, unit, slot, op, entered);
        } else {
            self.access(gpu, unit, slot, Run::of(op), entered);
        }
        // Most workloads keep none, which is foreseen; whether the instruction goes on is not.
        if self.hardware.history.is_kept() && !op.continues() {
            self.hardware.history.note(slot, self.hardware.waves.waves[slot].ready);
        }
        // Therefore a selection, not a branch.
        let next_instruction = over.max(time + self.hardware.costs.memory_issue);
        if op.continues() { over } else { next_instruction }
    }
}
