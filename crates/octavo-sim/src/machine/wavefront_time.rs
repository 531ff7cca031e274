//! The time of wavefronts, told to listeners while it passes.

use crate::gpu::units::stalls::{Request, Stall, Tally};
use crate::machine::hardware::Hardware;
use crate::machine::occurrence::{Happening, Listen};

impl<L: Listen> Hardware<'_, L> {
    /// A wavefront issued for this time.
    #[inline]
    pub(super) fn say_issued(&mut self, slot: usize, tally: &Tally) {
        self.say(Happening::Issued { job: self.waves.program(slot), tally });
    }

    /// A wavefront waits for `wait`.
    #[inline]
    pub(super) fn say_stalled(&mut self, slot: usize, what: Stall, page: Option<u32>, wait: u64) {
        if wait > 0 {
            self.say(Happening::Stalled { job: self.waves.program(slot), what, page, wait });
        }
    }

    /// A wavefront goes on; it may have waited for an answer whose arrival was known.
    #[inline]
    pub(super) fn say_woken(&mut self, slot: usize) {
        if let Some((answer, since)) = self.waves.wake(slot) {
            let wait = self.clock.now().saturating_sub(since);
            self.say(Happening::Answered { job: self.waves.program(slot), answer, wait });
        }
    }

    /// The vector instructions of a wavefront are over, for which it slept.
    pub(super) fn say_decoded(&mut self, slot: usize) {
        let (now, since) = (self.clock.now(), self.waves.slept_from(slot));
        self.say_stalled(slot, Stall::Pipeline, None, now.saturating_sub(since));
        if now < since {
            self.say(Happening::Overlapped { job: self.waves.program(slot), time: since - now });
        }
    }

    /// A pending access of a wavefront ended, which waited as `what`. If it sleeps, this is what it did until now; if
    /// it goes on at some time, it waits for the last answer until then.
    pub(super) fn say_ended(&mut self, slot: usize, since: u64, goes_on: Option<u64>, (what, page): (Stall, u32)) {
        let until = self.clock.now().max(since);
        self.say_stalled(slot, what, Some(page), until - since);
        self.waves.sleep_from(slot, until);
        let Some(goes_on) = goes_on else { return };
        if goes_on > until {
            let answer = self.waves.last_answer(slot);
            return self.say(Happening::Answered { job: self.waves.program(slot), answer, wait: goes_on - until });
        }
        let job = self.waves.program(slot);
        self.say(Happening::WaitEnds { job, what, page: Some(page) });
        if goes_on < until {
            // It had issued ahead of the clock before it slept.
            self.say(Happening::Overlapped { job, time: until - goes_on });
        }
    }

    /// An access to lines of a page of the own memory or another's, whose translation arrives at `time`. The lookup in
    /// the first-level TLB is part of every access.
    #[inline]
    pub(super) const fn request(&self, (page, write, own): (u32, bool, bool), time: u64, queued: u64) -> Request {
        let from = time.saturating_sub(self.costs.l1_tlb);
        Request { what: Stall::of_access(write, own), write, page, from, queued }
    }
}
