//! The state of one page in a block with thrashing.

use octavo_units::Time;

use crate::contract::ids::{MemoryId, ProcessorId};
use crate::contract::masks::ProcessorMask;

/// Most moves that are counted: three bits.
const MOST_EVENTS: u8 = 7;

/// Where a page is pinned.
#[derive(Clone, Copy)]
pub(super) struct Pin {
    pub at: MemoryId,
    /// `None` for ever.
    pub until: Option<Time>,
}

/// The processors that compete for a page, and since when.
#[derive(Clone, Default)]
pub(super) struct Fight {
    /// When it moved last.
    pub last: Option<Time>,
    /// Moves within the lapse of the one before.
    pub events: u8,
    /// Processors that took part.
    pub fighters: ProcessorMask,
    /// Processors whose faults wait.
    pub throttled: ProcessorMask,
    /// Until when they do.
    pub calm_until: Option<Time>,
    /// The processor that does not have to wait in this period.
    pub favoured: Option<ProcessorId>,
    /// Faults that were throttled since it was pinned last.
    pub throttles: u8,
    pub pin: Option<Pin>,
}

/// What a move made of a page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Moved {
    /// One that is not fought over, or for long.
    Nothing,
    /// One that is fought over from now on.
    Begins,
    /// The fight is over: forget it.
    Over,
}

impl Fight {
    /// The page moved to a memory of `to`.
    pub fn moved(&mut self, now: Time, to: ProcessorId, lapse: Time, threshold: u8) -> Moved {
        self.fighters = self.fighters.with(to);
        let Some(last) = self.last.replace(now) else { return Moved::Nothing };
        if now - last <= lapse {
            let before = self.events;
            self.events = (before + 1).min(MOST_EVENTS);
            let begins = before < threshold && self.events == threshold;
            return if begins { Moved::Begins } else { Moved::Nothing };
        }
        let over = self.events >= threshold && self.pin.is_none();
        if over { Moved::Over } else { Moved::Nothing }
    }

    /// The fight is over. The last favoured processor and the number of throttled faults are kept, as in the driver.
    pub fn forget(&mut self) {
        self.release_all();
        (self.last, self.events, self.fighters, self.pin) = (None, 0, ProcessorMask::EMPTY, None);
    }

    /// One whose fault waited goes on; the period ends with the last.
    pub fn release(&mut self, processor: ProcessorId) {
        self.throttled = self.throttled.without(processor);
        if self.throttled.is_empty() {
            self.calm_until = None;
        }
    }

    pub fn release_all(&mut self) {
        if !self.throttled.is_empty() {
            (self.throttled, self.calm_until) = (ProcessorMask::EMPTY, None);
        }
    }

    /// The first processor in a period is favoured, unless it was favoured last: then the next one is.
    pub fn choose_favoured(&mut self, now: Time, requester: ProcessorId, nap: Time) {
        if self.calm_until.is_none_or(|until| now >= until) {
            self.calm_until = Some(now + nap);
            self.favoured = Some(requester).filter(|_| self.favoured != Some(requester));
        } else if self.favoured.is_none() {
            self.favoured = Some(requester);
        }
    }
}
