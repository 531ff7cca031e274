//! Accesses that cannot go on yet for another reason than a fault: they get an event instead of reservations far ahead
//! of the clock, which would book links and banks for times at which nobody knows who else will want them.

use crate::engine::event::Kind;
use crate::gpu::run::Run;
use crate::gpu::units::wave::State;
use crate::machine::hardware::Hardware;

/// Lines of one page that an instruction wants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deferred {
    pub run: Run,
    pub slot: u32,
}

impl Hardware<'_> {
    /// Puts an access off until its translation is there.
    pub fn defer_until(&mut self, slot: usize, run: Run, ready: u64) {
        self.waves.waves[slot].pending += 1;
        let number = self.deferred.insert(Deferred { run, slot: slot as u32 });
        self.schedule(ready, Kind::Access, number);
    }

    /// One pending access less; the last lets a waiting wavefront go on.
    pub fn end_pending(&mut self, slot: usize) {
        let wave = &mut self.waves.waves[slot];
        wave.pending -= 1;
        if wave.pending == 0 && wave.state == State::Pending {
            wave.state = State::Scheduled;
            let ready = wave.ready.max(self.now);
            // It may go on at once, before its event was among those known ahead.
            let op = wave.next_op;
            self.hint_wave(slot, op);
            self.schedule_wave(ready, slot);
        }
    }
}
