//! Wakes that have arrived and are not over. A wake is over when every access that waited for it was served or has
//! faulted anew; until then its plan holds its pages, so that none leaves before who waited for it has used it.

use octavo_driver::Outstanding;
use octavo_driver::slab::Slab;

use crate::machine::happening::Listen;
use crate::machine::hardware::Hardware;
use crate::machine::node::Node;

/// Number of a replay while it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReplayId(u32);

/// What waited for one fault and is tried again.
struct Replay {
    fault: Outstanding,
    /// When the wake arrived.
    since: u64,
    /// Accesses that were put off; and the wake itself, while it goes through those that waited.
    left: u32,
    /// An access was served.
    served: bool,
}

/// What became of an access that is tried again.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Attempt {
    /// Nothing else was heard of it. Lines that queue for a link count: their mapping was used.
    #[default]
    Served,
    PutOff,
    Faulted,
}

/// Replays that go on.
#[derive(Default)]
pub(crate) struct Replays {
    replays: Slab<Replay>,
    /// The one whose access is being tried, if the access is part of one.
    current: Option<ReplayId>,
    attempt: Attempt,
    /// Wakes that are over and with which an access was served.
    useful: u64,
}

impl Replays {
    /// A wake has arrived: it is over after [`Node::leave_replay`] for it and for each access that is put off.
    pub fn begin(&mut self, fault: Outstanding, now: u64) -> ReplayId {
        ReplayId(self.replays.insert(Replay { fault, since: now, left: 1, served: false }))
    }

    /// The access that is being tried is put off; which replay it stays part of.
    #[inline]
    pub fn put_off(&mut self) -> Option<ReplayId> {
        let replay = self.current?;
        self.attempt = Attempt::PutOff;
        self.replays[replay.0].left += 1;
        Some(replay)
    }

    /// The access that is being tried has faulted anew.
    #[inline]
    pub fn fault_anew(&mut self) {
        self.attempt = Attempt::Faulted;
    }

    /// Wakes that are over and with which an access was served.
    pub const fn useful(&self) -> u64 {
        self.useful
    }
}

impl<L: Listen> Node<'_, L> {
    /// Tries an access of so many lines, which may be part of a replay.
    #[inline]
    pub(super) fn attempt(&mut self, replay: Option<ReplayId>, lines: u32, access: impl FnOnce(&mut Self)) {
        let Some(ReplayId(number)) = replay else { return access(self) };
        (self.hardware.replays.current, self.hardware.replays.attempt) = (replay, Attempt::Served);
        access(self);
        let Hardware { replays, accesses, clock, .. } = &mut self.hardware;
        replays.current = None;
        let Replay { since, served, .. } = &mut replays.replays[number];
        *served |= replays.attempt == Attempt::Served;
        let late = clock.now() - *since;
        if late > 0 && replays.attempt != Attempt::PutOff {
            accesses.deferred_retries += u64::from(lines);
            accesses.deferred_retry_ps += late * u64::from(lines);
        }
    }

    /// An access that was put off is over, or the wake has gone through all that waited: the last of them ends the wake.
    #[inline]
    pub(super) fn leave_replay(&mut self, replay: Option<ReplayId>) {
        let Some(ReplayId(number)) = replay else { return };
        let replays = &mut self.hardware.replays;
        replays.replays[number].left -= 1;
        if replays.replays[number].left > 0 {
            return;
        }
        let Replay { fault, served, .. } = replays.replays.remove(number);
        replays.useful += u64::from(served);
        self.hardware.accesses.wakes_in_vain += u64::from(!served);
        self.drive(|driver, now, hardware| driver.replayed(now, &fault, hardware));
    }
}
