//! Loads by the scalar unit: their own cache and TLB, shared by neighbouring compute units.

use octavo_manager::ProcessorId;
use octavo_program::Op;

use crate::engine::horizon::RESERVED_AHEAD;
use crate::gpu::caches::line_access::LineAccess;
use crate::gpu::run::Run;
use crate::gpu::translate::entry::Entry;
use crate::gpu::translate::first_level::FirstLevel;
use crate::gpu::translate::translation::Translation;
use crate::machine::node::Node;

impl Node<'_> {
    /// Issues a scalar load; returns when its wavefront can go on.
    #[inline(never)]
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
        let run = Run::of(Op::load(line, 1));
        let Translation { entry, time: ready } = self.translate(gpu, FirstLevel::Scalar(cache), page, false, time);
        if !entry.is_valid() {
            return self.fault(gpu, slot, page, run, time, ready);
        }
        self.breakdown.walk_ps += ready - time;
        if ready > self.now + RESERVED_AHEAD {
            return self.defer_until(slot, run, ready);
        }
        let done = match self.gpus[gpu].scalar.lookup(cache, line, entry.version()) {
            Some(there) => there.max(ready + self.costs.scalar_cache),
            None => {
                let done = self.scalar_miss(gpu, run, entry, ready + self.costs.scalar_lookup);
                self.gpus[gpu].scalar.insert(cache, line, entry.version(), done);
                done
            }
        };
        let wave = &mut self.waves.waves[slot];
        wave.ready = wave.ready.max(done);
    }

    /// A line that the scalar cache does not have, from the own second level or another processor's memory.
    fn scalar_miss(&mut self, gpu: usize, run: Run, entry: Entry, time: u64) -> u64 {
        if entry.target() == ProcessorId::gpu(gpu) {
            let done = self.l2_line(gpu, run.line(), LineAccess::Load, time) + self.costs.scalar_fill;
            self.breakdown.local_ps += done - time;
            return done;
        }
        let done = self.remote_line(gpu, entry.target(), run, time);
        self.breakdown.remote_access_ps += done - time;
        done
    }
}
