//! Wakes that have arrived and are not over. A wake-up ends when every access that waited for it was served or has
//! faulted again; until then its plan holds its pages, so that none leaves before a waiting access has used it.

use octavo_driver::Outstanding;
use octavo_driver::slab::Slab;

/// Number of a replay in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReplayId(u32);

/// Accesses that waited for one fault and are retried.
struct Replay {
    fault: Outstanding,
    /// When the wake arrived.
    since: u64,
    /// Accesses that were put off; and the wake itself, while it goes through those that waited.
    left: u32,
    /// An access was served.
    served: bool,
}

/// The result of an access that is retried.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Attempt {
    /// Nothing else has been heard about it. Lines that queue for a link count: their mapping was used.
    #[default]
    Served,
    PutOff,
    Faulted,
}

/// Replays that go on.
#[derive(Default)]
pub(crate) struct Replays {
    replays: Slab<Replay>,
    /// The replay whose access is being tried, if there is one.
    current: Option<ReplayId>,
    attempt: Attempt,
    /// Finished wake-ups with which an access was served.
    useful: u64,
}

impl Replays {
    /// A wake-up has arrived: it ends after [`leave`](Self::leave) for it and for each access that is put off.
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

    /// The access that is being tried has faulted again.
    #[inline]
    pub fn fault_anew(&mut self) {
        self.attempt = Attempt::Faulted;
    }

    /// An access that is part of a replay is tried.
    #[inline]
    pub fn begin_attempt(&mut self, replay: ReplayId) {
        (self.current, self.attempt) = (Some(replay), Attempt::Served);
    }

    /// It was tried: how long after the wake, if that took time and it was not put off.
    #[inline]
    pub fn end_attempt(&mut self, ReplayId(number): ReplayId, now: u64) -> Option<u64> {
        self.current = None;
        let Replay { since, served, .. } = &mut self.replays[number];
        *served |= self.attempt == Attempt::Served;
        let late = now - *since;
        (late > 0 && self.attempt != Attempt::PutOff).then_some(late)
    }

    /// An access is no longer part of a replay. The last ends the wake: of which fault, and whether an access was
    /// served.
    #[inline]
    pub fn leave(&mut self, ReplayId(number): ReplayId) -> Option<(Outstanding, bool)> {
        self.replays[number].left -= 1;
        if self.replays[number].left > 0 {
            return None;
        }
        let Replay { fault, served, .. } = self.replays.remove(number);
        self.useful += u64::from(served);
        Some((fault, served))
    }

    /// Wakes that have ended and served an access.
    pub const fn useful(&self) -> u64 {
        self.useful
    }
}
