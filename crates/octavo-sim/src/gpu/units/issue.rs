//! Instructions that need no memory, and how a wavefront waits for those that do.

use octavo_program::InstructionMix;

use crate::engine::costs::Costs;
use crate::gpu::counts::Accesses;
use crate::gpu::state::Gpu;
use crate::gpu::units::wave::{Awaited, State, Waves};

/// Why a wavefront does not continue for now.
pub(crate) enum Stop {
    /// Others wake it.
    Asleep,
    Until(u64),
    Barrier(u64),
    End,
}

impl Stop {
    /// The same, with this additional time if it is known when the wavefront continues.
    pub const fn later(self, more: u64) -> Self {
        match self {
            Self::Until(time) => Self::Until(time + more),
            other => other,
        }
    }
}

impl Gpu {
    /// Vector-ALU instructions occupy a SIMD; returns their end.
    #[inline]
    pub fn run_vector(&mut self, simd: usize, costs: &Costs, time: u64, instructions: u32) -> u64 {
        costs.vector_alu.run(&mut self.simds[simd], time, instructions)
    }

    /// Instructions of several classes, one class after another; returns their end.
    #[inline(always)]
    pub fn run_mixed(
        &mut self,
        (unit, simd): (usize, usize),
        costs: &Costs,
        time: u64,
        instructions: InstructionMix,
        accesses: &mut Accesses,
    ) -> u64 {
        let InstructionMix { vector, scalar, local_data, branch } = instructions;
        let (simd, unit) = (&mut self.simds[simd], &mut self.units[unit]);
        let mut time = costs.vector_alu.run(simd, time, vector);
        time = costs.scalar_alu.run(if costs.simd_issues_all { simd } else { &mut unit.scalar }, time, scalar);
        accesses.compute_instructions += u64::from(vector);
        accesses.scalar_instructions += u64::from(scalar);
        if local_data > 0 {
            time = costs.local_data.run(&mut unit.local_data, time, local_data);
            accesses.local_data_instructions += u64::from(local_data);
        }
        if branch > 0 {
            time = costs.branch.run(if costs.simd_issues_all { simd } else { &mut unit.branch }, time, branch);
            accesses.branches += u64::from(branch);
        }
        time
    }
}

impl Gpu {
    /// Like `run_mixed`, if accesses are issued in order of time: other wavefronts' instructions come in between.
    pub fn run_between(
        &mut self,
        place: (usize, usize),
        costs: &Costs,
        times: (u64, u64),
        instructions: InstructionMix,
        accesses: &mut Accesses,
    ) -> u64 {
        accesses.compute_instructions += u64::from(instructions.vector);
        accesses.scalar_instructions += u64::from(instructions.scalar);
        accesses.local_data_instructions += u64::from(instructions.local_data);
        accesses.branches += u64::from(instructions.branch);
        match &mut self.pipelines {
            Some(pipelines) => pipelines.run(place, costs, times, instructions),
            None => times.1,
        }
    }
}

impl Waves {
    /// How a wavefront waits for all its requests except for its `youngest` latest instructions; `None` if it need not. Accesses that wait for the driver are waited for in any case.
    #[inline]
    pub fn wait_for_memory(&mut self, slot: usize, now: u64, time: u64, youngest: u32) -> Option<Stop> {
        let wave = &mut self.waves[slot];
        if wave.pending > 0 {
            wave.state = State::Pending;
            self.waits[slot].since = time;
            return Some(Stop::Asleep);
        }
        let (there, awaited) = if youngest == 0 {
            (wave.ready, Awaited::Last)
        } else {
            let (there, place) = self.history.all_but(slot, youngest);
            (there, Awaited::At(place as u8))
        };
        if there > time {
            let waits = &mut self.waits[slot];
            (waits.since, waits.awaited) = (time, awaited);
        }
        let ready = there.max(time);
        (ready > now).then_some(Stop::Until(ready))
    }
}
