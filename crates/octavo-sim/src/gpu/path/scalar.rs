//! Loads by the scalar unit: their own cache, shared by neighbouring compute units.

use crate::engine::costs::Costs;
use crate::gpu::state::Gpu;

impl Gpu {
    /// It is `now`: a unit issues a scalar load that arrives at `time`; returns when its wavefront can continue.
    pub fn issue_scalar(&mut self, unit: usize, (now, time): (u64, u64), costs: &Costs) -> u64 {
        if let Some(pipelines) = &mut self.pipelines {
            return pipelines.issue_scalar(unit, costs, (now, time)) + costs.scalar_issue;
        }
        let pipeline = &mut self.units[unit].scalar;
        let issued = (*pipeline).max(time);
        *pipeline = issued + costs.scalar_alu.occupancy;
        issued + costs.scalar_issue
    }

    /// The time when a scalar cache accepts a request that arrives at `time`.
    pub fn begin_scalar(&mut self, cache: usize, now: u64, time: u64) -> u64 {
        self.scalar_in_flight[cache].available(now, time)
    }

    /// A scalar cache answers `unit` at `answer` for a request that it accepted at `start`; returns when the unit has
    /// it, which takes answers one after another.
    pub fn end_scalar(
        &mut self,
        (unit, cache): (usize, usize),
        now: u64,
        (start, answer): (u64, u64),
        costs: &Costs,
    ) -> u64 {
        let left = answer.saturating_sub(costs.scalar_way_back).max(start);
        self.scalar_in_flight[cache].take(now, start, left);
        if costs.scalar_answer == 0 {
            return answer;
        }
        let answers = &mut self.units[unit].scalar_answers;
        let taken = answers.available(now, answer);
        answers.take(now, taken, taken + costs.scalar_answer);
        taken
    }

    /// The time when a line of the mapping with that version can be read, if the scalar cache has it or it is on its
    /// way.
    pub fn look_up_scalar(&mut self, cache: usize, line: u64, version: u8, time: u64, costs: &Costs) -> Option<u64> {
        Some(self.scalar.lookup(cache, line, version)?.max(time + costs.scalar_cache))
    }

    /// Enters a line that arrives at `done`.
    pub fn enter_scalar(&mut self, cache: usize, line: u64, version: u8, done: u64) {
        self.scalar.insert(cache, line, version, done);
    }
}
