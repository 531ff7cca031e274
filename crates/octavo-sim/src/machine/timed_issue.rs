//! Issue in order of time: each access at an event of its own, computing ahead of it.

use octavo_program::{InstructionMix, Op, OpKind};

use crate::engine::event::Kind;
use crate::gpu::units::decoder::Decoded;
use crate::gpu::units::issue::Stop;
use crate::gpu::units::stalls::{Stall, Tally};
use crate::gpu::units::wave::Next;
use crate::machine::hardware::Hardware;
use crate::machine::node::Node;
use crate::machine::occurrence::Listen;

impl<L: Listen> Node<'_, L> {
    /// Like `run_wave`, if accesses are issued in order of time.
    #[inline(never)]
    pub(super) fn run_wave_timed(&mut self, slot: usize, op: u16) {
        self.run_wave_by(slot, op, Self::issue_timed);
    }

    /// Issues operations from `next` on until the next access is due later, or the wavefront waits or ends.
    fn issue_timed(&mut self, (gpu, unit): (usize, usize), slot: usize, next: &mut Next, tally: &mut Tally) -> Stop {
        let now = self.hardware.clock.now();
        let mut time = now;
        loop {
            let Some(op) = self.hardware.waves.op(slot, *next) else {
                *next = self.refill(slot);
                continue;
            };
            let accesses = matches!(op.kind(), OpKind::Load | OpKind::Store | OpKind::ScalarLoad | OpKind::Fetch);
            let decoded = op.kind() == OpKind::Compute && self.hardware.decodes(op.instructions());
            if (accesses || decoded) && time > now {
                return Stop::Until(time);
            }
            next.op += 1;
            if decoded {
                self.hardware.begin_vectors((gpu, unit), slot, op.instructions());
                return Stop::Asleep;
            }
            match op.kind() {
                OpKind::Load | OpKind::Store if self.hardware.config.compute.lines_in_flight > 0 => {
                    match self.memory_queued((gpu, unit), slot, op, next) {
                        Some(stop) => return stop,
                        None => time += self.hardware.alone(self.hardware.costs.memory_issue, tally),
                    }
                }
                OpKind::Load | OpKind::Store => time = self.memory((gpu, unit), slot, time, op, tally),
                OpKind::Compute => {
                    time = self.hardware.compute_timed((gpu, unit), slot, time, op.instructions(), tally);
                }
                OpKind::Wait => match self.wait(slot, time, op.count()) {
                    Some(stop) => {
                        if let Stop::Until(_) = stop {
                            let wait = self.hardware.alone(self.hardware.costs.wait, tally);
                            self.hardware.waves.wait_later(slot, wait);
                        }
                        return stop.later(self.hardware.costs.wait);
                    }
                    None => time += self.hardware.alone(self.hardware.costs.wait, tally),
                },
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
    }
}

impl<L: Listen> Node<'_, L> {
    /// Issues a memory instruction, which begins with `op`, where a unit has a queue of lines: all of its operations, or
    /// none if there is no room yet.
    fn memory_queued(&mut self, (gpu, unit): (usize, usize), slot: usize, op: Op, next: &mut Next) -> Option<Stop> {
        let now = self.hardware.clock.now();
        let lines = self.hardware.waves.lines_of_instruction(slot, op, *next);
        let room = self.hardware.gpus[gpu].unit(unit).room_for_lines(now, lines);
        if room > now {
            next.op -= 1;
            self.hardware.say_stalled(slot, Stall::Queue, None, room - now);
            return Some(Stop::Until(room));
        }
        let mut part = Some(op);
        while let Some(op) = part {
            self.memory((gpu, unit), slot, now, op, &mut Tally::default());
            part = op.continues().then(|| self.hardware.waves.op(slot, *next)).flatten();
            next.op += u16::from(part.is_some());
        }
        self.hardware.gpus[gpu].unit(unit).take_up_lines(lines);
        None
    }
}

impl<L: Listen> Hardware<'_, L> {
    /// Instructions of several classes; returns their end.
    pub(super) fn compute_timed(
        &mut self,
        (gpu, unit): (usize, usize),
        slot: usize,
        time: u64,
        instructions: InstructionMix,
        tally: &mut Tally,
    ) -> u64 {
        let Self { costs, gpus, waves, accesses, clock, .. } = self;
        let place = (unit, waves.simd(slot));
        let over = gpus[gpu].run_between(place, costs, (clock.now(), time), instructions, accesses);
        tally.computed(over - time, self.costs.alone(instructions));
        self.branch(slot, over, instructions.branch, tally)
    }

    /// A wavefront issues something for a time, which it returns.
    fn alone(&self, time: u64, tally: &mut Tally) -> u64 {
        tally.computed(time, (time, 0));
        time
    }

    /// Whether SIMDs share a decoder that these instructions need.
    fn decodes(&self, instructions: InstructionMix) -> bool {
        self.config.compute.vector_decoder > 0 && instructions.vector > 0
    }

    /// The wavefront sleeps until its vector instructions end.
    fn begin_vectors(&mut self, (gpu, unit): (usize, usize), slot: usize, instructions: InstructionMix) {
        self.accesses.compute_instructions += u64::from(instructions.vector);
        // Until it is woken, it waits for others; what it takes alone passes in any case.
        let alone = self.costs.vector_alu.lasts(instructions.vector.into());
        let mut tally = Tally::default();
        tally.computed(alone, (alone, 0));
        self.say_issued(slot, &tally);
        self.waves.sleep_from(slot, self.clock.now() + alone);
        let now = self.clock.now().div_ceil(self.costs.cycle);
        let (seat, age) = self.waves.seat_and_age(slot);
        let Some(decoder) = self.gpus[gpu].decoder(unit) else { return };
        decoder.begin(now, (slot, seat), age, instructions);
        self.look_again((gpu, unit), now);
    }

    /// Vector instructions of a unit may have ended: those wavefronts continue with the rest of theirs.
    pub(super) fn vectors_due(&mut self, index: usize) {
        let units = self.config.compute.units as usize;
        let (gpu, unit, now) = (index / units, index % units, self.clock.now().div_ceil(self.costs.cycle));
        let mut over = std::mem::take(&mut self.decoded);
        if let Some(decoder) = self.gpus[gpu].decoder(unit) {
            decoder.take_over(now, &mut over);
        }
        for Decoded { slot, rest } in over.drain(..) {
            self.say_decoded(slot);
            let mut tally = Tally::default();
            let time = self.compute_timed((gpu, unit), slot, self.clock.now(), rest, &mut tally);
            self.say_issued(slot, &tally);
            self.schedule_wave(time, slot);
        }
        self.decoded = over;
        self.look_again((gpu, unit), now);
    }

    /// Asks for an event when vector instructions of a unit may be over next.
    fn look_again(&mut self, (gpu, unit): (usize, usize), now: u64) {
        let due = self.gpus[gpu].decoder(unit).and_then(|decoder| decoder.look_again(now));
        if let Some(due) = due {
            let index = gpu * self.config.compute.units as usize + unit;
            self.clock.schedule(due * self.costs.cycle, Kind::VectorsDue, index as u32);
        }
    }
}
