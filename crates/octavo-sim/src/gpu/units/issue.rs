//! What a compute unit does with instructions that need no memory, and how a wavefront waits for those that do.

use octavo_program::InstructionMix;

use crate::gpu::units::wave::State;
use crate::machine::hardware::Hardware;

/// Why a wavefront does not go on for now.
pub(crate) enum Stop {
    /// Others wake it.
    Asleep,
    Until(u64),
    Barrier(u64),
    End,
}

impl Hardware<'_> {
    /// Vector-ALU instructions occupy the wavefront's SIMD; returns when they are over.
    #[inline]
    pub fn compute(&mut self, gpu: usize, slot: usize, time: u64, instructions: u32) -> u64 {
        let simd = &mut self.gpus[gpu].simds[self.waves.waves[slot].simd as usize];
        self.accesses.compute_instructions += u64::from(instructions);
        self.costs.vector_alu.run(simd, time, instructions)
    }

    /// Instructions of several classes, one class after another; returns when they are over.
    #[inline]
    pub fn mixed(&mut self, (gpu, unit): (usize, usize), slot: usize, time: u64, instructions: InstructionMix) -> u64 {
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

    /// How a wavefront waits for everything it asked for but for its `youngest` latest instructions; `None` if it need
    /// not. Accesses that wait for the driver are waited for in any case.
    #[inline]
    pub fn wait_for_memory(&mut self, slot: usize, time: u64, youngest: u32) -> Option<Stop> {
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
