//! Accesses that are tried again once a wake has arrived.

use crate::machine::hardware::Hardware;
use crate::machine::node::Node;
use crate::machine::occurrence::Listen;
use crate::machine::replays::ReplayId;

impl<L: Listen> Node<'_, L> {
    /// Tries an access of this many lines, which may be part of a replay.
    #[inline]
    pub(super) fn attempt(&mut self, replay: Option<ReplayId>, lines: u32, access: impl FnOnce(&mut Self)) {
        let Some(replay) = replay else { return access(self) };
        self.hardware.replays.begin_attempt(replay);
        access(self);
        let Hardware { replays, accesses, clock, .. } = &mut self.hardware;
        if let Some(late) = replays.end_attempt(replay, clock.now()) {
            accesses.deferred_retries += u64::from(lines);
            accesses.deferred_retry_ps += late * u64::from(lines);
        }
    }

    /// An access that was put off ends, or the wake-up has gone through all that waited: the last of them ends the
    /// wake-up.
    #[inline]
    pub(super) fn leave_replay(&mut self, replay: Option<ReplayId>) {
        let Some((fault, served)) = replay.and_then(|replay| self.hardware.replays.leave(replay)) else { return };
        self.hardware.accesses.wakes_in_vain += u64::from(!served);
        self.drive(|driver, now, hardware| driver.replayed(now, &fault, hardware));
    }
}
