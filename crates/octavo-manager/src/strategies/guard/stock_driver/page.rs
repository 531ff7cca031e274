//! The state of one page in a block with thrashing.

use std::num::NonZeroU64;

use octavo_units::Time;

use crate::contract::ids::{MemoryId, ProcessorId};
use crate::contract::masks::{PackedProcessors, ProcessorMask};

/// Most moves that are counted: three bits.
const MOST_EVENTS: u8 = 7;

/// The place where a page is pinned.
#[derive(Clone, Copy)]
pub(super) struct Pin {
    pub at: MemoryId,
    /// `None` for ever.
    pub until: Option<Time>,
}

/// The processors that compete for a page, and since when.
#[derive(Clone, Default)]
pub(super) struct Fight {
    /// A picosecond after it moved last.
    pub moved: Option<NonZeroU64>,
    /// Moves within the lapse of the one before.
    pub events: u8,
    /// Processors that took part.
    pub fighters: PackedProcessors,
    /// Processors whose faults wait.
    pub throttled: PackedProcessors,
    /// Until when they do.
    pub calm_until: Option<Time>,
    /// The processor that does not have to wait in this period.
    pub favoured: Option<ProcessorId>,
    /// Faults that were throttled since it was pinned last.
    pub throttles: u8,
    pub pin: Option<Pin>,
}

/// The effect of a move on a page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Moved {
    /// Processors do not compete for it, or not for long.
    Nothing,
    /// Processors compete for one from now on.
    Begins,
    /// The competition has ended: forgets it.
    Over,
}

impl Fight {
    /// When it moved last.
    pub fn last(&self) -> Option<Time> {
        self.moved.map(|after| Time(after.get() - 1))
    }

    pub fn fighters(&self) -> ProcessorMask {
        self.fighters.into()
    }

    /// Adds a processor that takes part.
    pub fn takes_part(&mut self, processor: ProcessorId) {
        self.fighters = self.fighters().with(processor).into();
    }

    pub fn throttled(&self) -> ProcessorMask {
        self.throttled.into()
    }

    /// The page moved to a memory of `to`.
    pub fn moved(&mut self, now: Time, to: ProcessorId, lapse: Time, threshold: u8) -> Moved {
        self.takes_part(to);
        let before = self.last();
        self.moved = NonZeroU64::new(now.0 + 1);
        let Some(last) = before else { return Moved::Nothing };
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
        (self.moved, self.events, self.fighters, self.pin) = (None, 0, PackedProcessors::default(), None);
    }

    /// A waiting fault continues; the period ends with the last one.
    pub fn release(&mut self, processor: ProcessorId) {
        let others = self.throttled().without(processor);
        self.throttled = others.into();
        if others.is_empty() {
            self.calm_until = None;
        }
    }

    pub fn release_all(&mut self) {
        if !self.throttled().is_empty() {
            (self.throttled, self.calm_until) = (PackedProcessors::default(), None);
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

#[cfg(test)]
mod tests {
    use super::*;

    const GPU: ProcessorId = ProcessorId::gpu(0);
    const OTHER: ProcessorId = ProcessorId::gpu(1);

    /// Which of these moves, with a lapse of 10, start a competition and which end it.
    fn moves(fight: &mut Fight, threshold: u8, times: &[u64]) -> Vec<(u64, bool)> {
        let made = times.iter().map(|&at| (at, fight.moved(Time(at), GPU, Time(10), threshold)));
        made.filter(|(_, made)| *made != Moved::Nothing).map(|(at, made)| (at, made == Moved::Begins)).collect()
    }

    #[test]
    fn a_fight_is_72_bytes() {
        assert_eq!(size_of::<Fight>(), 72, "there is one for each page of a block with thrashing");
    }

    #[test]
    fn a_fight_begins_once_even_where_no_more_moves_are_counted() {
        let mut fight = Fight::default();
        assert_eq!(moves(&mut fight, MOST_EVENTS, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]), [(7, true)]);
    }

    #[test]
    fn a_pause_ends_a_fight_that_has_begun_unless_the_page_is_pinned() {
        let mut fight = Fight::default();
        assert_eq!(moves(&mut fight, 3, &[0, 5, 10, 100, 105]), [(105, true)], "moves from before the pause count");
        assert_eq!(moves(&mut fight, 3, &[200]), [(200, false)]);
        fight.pin = Some(Pin { at: GPU.memory(), until: None });
        assert_eq!(moves(&mut fight, 3, &[300]), []);
    }

    #[test]
    fn a_period_ends_when_the_last_fault_that_waits_goes_on() {
        let throttled = ProcessorMask::only(GPU).with(OTHER);
        let mut fight = Fight { throttled: throttled.into(), calm_until: Some(Time(9)), ..Fight::default() };
        fight.release(GPU);
        assert_eq!((fight.throttled(), fight.calm_until), (ProcessorMask::only(OTHER), Some(Time(9))));
        fight.release(OTHER);
        assert_eq!((fight.throttled(), fight.calm_until), (ProcessorMask::EMPTY, None));
    }

    #[test]
    fn a_period_in_which_nobody_waits_goes_on_when_all_are_released() {
        for (throttled, calm_until) in [(ProcessorMask::only(GPU), None), (ProcessorMask::EMPTY, Some(Time(9)))] {
            let mut fight = Fight { throttled: throttled.into(), calm_until: Some(Time(9)), ..Fight::default() };
            fight.release_all();
            assert_eq!((fight.throttled(), fight.calm_until), (ProcessorMask::EMPTY, calm_until));
        }
    }
}
