//! A wavefront's step: from an event to its next wait, it issues what its stream says.

use octavo_workload::{Op, OpKind, OpSink};

use super::Node;
use super::event::Kind;
use super::wave::{ENOUGH, State};

/// How far ahead of the clock a wavefront may issue before it gives way. Reservations tolerate this much disorder;
/// page tables and faults see accesses this much too early at most.
const AHEAD: u64 = 64_000;

impl Node<'_> {
    /// Runs the wavefront in `slot` until it waits, ends or is too far ahead of the clock.
    pub fn run_wave(&mut self, slot: usize) {
        let (gpu, unit) = self.place(slot);
        let paused = self.gpus[gpu].units[unit].paused;
        if paused > self.now {
            return self.schedule(paused, Kind::Wave, slot as u32);
        }
        let mut time = self.now;
        loop {
            if self.waves.waves[slot].next_op == self.waves.waves[slot].ops {
                self.refill(slot);
            }
            let op = self.waves.op(slot);
            match op.kind() {
                OpKind::Compute => time = self.compute(gpu, slot, time, op.count()),
                OpKind::Load | OpKind::Store => time = self.memory(gpu, unit, slot, time, op),
                OpKind::Wait | OpKind::End => {
                    if !self.memory_is_there(slot, time) {
                        return;
                    }
                    if op.kind() == OpKind::End {
                        return self.end_wave(slot);
                    }
                }
                OpKind::Barrier => {
                    self.waves.waves[slot].next_op += 1;
                    return self.arrive_at_barrier(slot, time);
                }
            }
            self.waves.waves[slot].next_op += 1;
            if time > self.now + AHEAD {
                return self.schedule(time, Kind::Wave, slot as u32);
            }
        }
    }

    /// Fetches the next operations of a wavefront from the workload.
    fn refill(&mut self, slot: usize) {
        let (wave, ops) = self.waves.chunk(slot);
        let mut sink = OpSink::new(ops).until(ENOUGH);
        self.workload.fill(self.launch, wave.group, u32::from(wave.number), &mut wave.cursor, &mut sink);
        debug_assert!(!sink.is_empty(), "a workload must make progress");
        wave.ops = sink.len() as u16;
        wave.next_op = 0;
    }

    /// Vector-ALU instructions occupy the wavefront's SIMD; returns when they are over.
    #[inline]
    fn compute(&mut self, gpu: usize, slot: usize, time: u64, instructions: u32) -> u64 {
        let simd = &mut self.gpus[gpu].simds[self.waves.waves[slot].simd as usize];
        self.accesses.compute_instructions += u64::from(instructions);
        *simd = (*simd).max(time) + u64::from(instructions) * self.costs.instruction;
        *simd
    }

    /// Issues the lines of one memory operation; returns when the last was issued.
    #[inline]
    fn memory(&mut self, gpu: usize, unit: usize, slot: usize, time: u64, op: Op) -> u64 {
        let port = &mut self.gpus[gpu].units[unit].port;
        let issued = (*port).max(time);
        let over = issued + u64::from(op.count()) * self.costs.line;
        *port = over;
        self.access(gpu, unit, slot, super::access::Run::of(op), issued);
        over
    }

    /// Whether everything the wavefront asked for is there; if not, it sleeps until it is.
    #[inline]
    fn memory_is_there(&mut self, slot: usize, time: u64) -> bool {
        let wave = &mut self.waves.waves[slot];
        if wave.pending > 0 {
            wave.state = State::Pending;
            return false;
        }
        let ready = wave.ready.max(time);
        if ready > self.now {
            self.schedule(ready, Kind::Wave, slot as u32);
            return false;
        }
        true
    }
}
