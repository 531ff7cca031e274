//! Loads by the scalar unit: their own cache and TLB, shared by neighbouring compute units.

use octavo_manager::ProcessorId;

use crate::gpu::caches::line_access::LineAccess;
use crate::gpu::run::Run;
use crate::gpu::translate::entry::Entry;
use crate::machine::hardware::Hardware;

impl Hardware<'_> {
    /// Issues a scalar load; returns when its wavefront can go on.
    pub fn issue_scalar(&mut self, gpu: usize, unit: usize, time: u64) -> u64 {
        let pipeline = &mut self.gpus[gpu].units[unit].scalar;
        let issued = (*pipeline).max(time);
        *pipeline = issued + self.costs.scalar_alu.occupancy;
        self.accesses.scalar_loads += 1;
        issued + self.costs.scalar_issue
    }

    /// Serves a line of a scalar load of the wavefront in `slot`, whose translation is there at `time`.
    pub fn serve_scalar(&mut self, gpu: usize, cache: usize, slot: usize, entry: Entry, run: Run, time: u64) {
        let done = match self.gpus[gpu].scalar.lookup(cache, run.line(), entry.version()) {
            Some(there) => there.max(time + self.costs.scalar_cache),
            None => {
                let done = self.scalar_miss(gpu, run, entry, time + self.costs.scalar_lookup);
                self.gpus[gpu].scalar.insert(cache, run.line(), entry.version(), done);
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
