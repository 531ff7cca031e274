//! Loads by the scalar unit: their own cache and TLB, shared by neighbouring compute units.

use octavo_manager::ProcessorId;
use octavo_workload::Op;

use super::Node;
use super::access::{FirstLevel, Run, Translation};
use super::defer::RESERVED_AHEAD;
use crate::memory::LineAccess;

impl Node<'_> {
    /// Issues a scalar load; returns when its wavefront can go on.
    pub fn scalar_load(&mut self, (gpu, unit): (usize, usize), slot: usize, time: u64, op: Op) -> u64 {
        let pipeline = &mut self.gpus[gpu].units[unit].scalar;
        let issued = (*pipeline).max(time);
        *pipeline = issued + self.costs.scalar_alu.occupancy;
        self.accesses.scalar_loads += 1;
        let over = issued + self.costs.scalar_issue;
        for line in op.line()..op.line() + u64::from(op.count()) {
            self.scalar_line((gpu, unit), slot, line, over + self.costs.scalar_pipeline);
        }
        over
    }

    fn scalar_line(&mut self, (gpu, unit): (usize, usize), slot: usize, line: u64, time: u64) {
        let cache = unit / self.config.scalar.units as usize;
        let page = (line >> self.page_line_shift) as u32;
        let run = Run { line, count: 1, write: false, partial: false };
        let (entry, ready) = match self.translate(gpu, FirstLevel::Scalar(cache), page, false, time) {
            Translation::Ready(entry, ready) => (entry, ready),
            Translation::Fault(walked) => return self.fault(gpu, slot, page, run, time, walked),
        };
        self.breakdown.walk_ps += ready - time;
        if ready > self.now + RESERVED_AHEAD {
            return self.defer_until(slot, run, ready);
        }
        if entry.target() != ProcessorId::gpu(gpu) {
            return self.serve_translated(gpu, unit, slot, entry, run, ready);
        }
        let done = match self.gpus[gpu].scalar.lookup(cache, line, entry.version()) {
            Some(there) => there.max(ready + self.costs.scalar_cache),
            None => {
                let done = self.l2_line(gpu, line, LineAccess::Load, ready + self.costs.scalar_lookup)
                    + self.costs.scalar_fill;
                self.gpus[gpu].scalar.insert(cache, line, entry.version(), done);
                done
            }
        };
        self.breakdown.local_ps += done - ready;
        let wave = &mut self.waves.waves[slot];
        wave.ready = wave.ready.max(done);
    }
}
