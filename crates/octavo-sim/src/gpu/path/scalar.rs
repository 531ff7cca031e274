//! Loads by the scalar unit: their own cache, shared by neighbouring compute units.

use crate::engine::costs::Costs;
use crate::gpu::state::Gpu;

impl Gpu {
    /// It is `now`: a unit issues a scalar load that comes at `time`; returns when its wavefront can go on.
    pub fn issue_scalar(&mut self, unit: usize, (now, time): (u64, u64), costs: &Costs) -> u64 {
        if let Some(pipelines) = &mut self.pipelines {
            return pipelines.issue_scalar(unit, costs, (now, time)) + costs.scalar_issue;
        }
        let pipeline = &mut self.units[unit].scalar;
        let issued = (*pipeline).max(time);
        *pipeline = issued + costs.scalar_alu.occupancy;
        issued + costs.scalar_issue
    }

    /// When a line of the mapping with that version can be read, if the scalar cache has it or it is on its way.
    pub fn look_up_scalar(&mut self, cache: usize, line: u64, version: u8, time: u64, costs: &Costs) -> Option<u64> {
        Some(self.scalar.lookup(cache, line, version)?.max(time + costs.scalar_cache))
    }

    /// Enters a line that will be there at `done`.
    pub fn enter_scalar(&mut self, cache: usize, line: u64, version: u8, done: u64) {
        self.scalar.insert(cache, line, version, done);
    }
}
