//! Accesses that have to wait for another reason than a fault. They get an event; reservations far ahead of the clock
//! would book links and banks before the competing requests are known.

use crate::engine::event::Kind;
use crate::gpu::run::Run;
use crate::gpu::units::stalls::Stall;
use crate::machine::deferral::Deferred;
use crate::machine::hardware::Hardware;
use crate::machine::occurrence::Listen;

impl<L: Listen> Hardware<'_, L> {
    /// Defers an access until its translation is known.
    pub(super) fn defer_until(&mut self, slot: usize, run: Run, ready: u64) {
        self.defer((run, slot, true), ready);
    }

    /// Defers an access of a unit that issues nothing until `time`.
    pub(super) fn defer_issue(&mut self, slot: usize, run: Run, time: u64) {
        self.defer((run, slot, false), time);
    }

    fn defer(&mut self, (run, slot, translated): (Run, usize, bool), time: u64) {
        self.waves.begin_pending(slot);
        let replay = self.replays.put_off();
        let number = self.deferred.insert(Deferred { run, slot: slot as u32, translated, replay });
        self.clock.schedule(time, Kind::Access, number);
    }

    /// One pending access fewer, to lines of a page, which waited for something; the last lets a waiting wavefront
    /// continue.
    pub(super) fn end_pending(&mut self, slot: usize, waited: (Stall, u32)) {
        let asleep = self.waves.asleep_since(slot);
        let goes_on = self.waves.end_pending(slot, self.clock.now());
        if let Some(since) = asleep {
            self.say_ended(slot, since, goes_on, waited);
        }
        if let Some(time) = goes_on {
            // It may go on at once, before its event was among those known ahead.
            let op = self.waves.next_op(slot);
            self.waves.hint(slot, op);
            self.clock.schedule_wave(time, slot, op);
        }
    }
}
