//! Hints to the simulating machine: which of its memory is needed soon.
//!
//! Thousands of wavefronts take turns, and the state of wavefronts, compute units and wanted lines does not fit a cache
//! near the core. A hint lets that memory be read while something else is simulated; it changes no result. Each stands
//! where it was found to gain more than its instructions cost.

use octavo_program::{Op, OpKind};

use crate::gpu::state::Gpu;

impl Gpu {
    /// A wavefront of `unit` continues with `op`, after its present one.
    #[inline(always)]
    pub fn hint_operation(&self, unit: usize, op: Op) {
        if matches!(op.kind(), OpKind::Load | OpKind::Store) {
            self.l1.hint(unit, op.line());
            self.l2.hint(op.line());
            self.units[unit].misses.hint();
        }
    }

    /// A line is requested from the second level.
    #[inline(always)]
    pub fn hint_line(&self, line: u64) {
        self.l2.hint(line);
    }
}
