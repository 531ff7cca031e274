//! The clock: the present time, and future events.

use crate::engine::calendar::Calendar;
use crate::engine::event::{Event, Kind};

/// Simulated time and the events to come.
pub(crate) struct Clock {
    now: u64,
    calendar: Calendar,
    /// Events in the calendar that repeat themselves: samples, reports, and checks for later events.
    periodic: usize,
    /// Those that have come.
    looks: u64,
}

impl Clock {
    pub fn new() -> Self {
        Self { now: 0, calendar: Calendar::new(), periodic: 0, looks: 0 }
    }

    /// Picoseconds since the beginning.
    #[inline(always)]
    pub const fn now(&self) -> u64 {
        self.now
    }

    #[inline]
    pub fn schedule(&mut self, time: u64, kind: Kind, index: u32) {
        self.calendar.push(time, Event::new(kind, index).pack());
    }

    /// The wavefront in `slot` continues with its operation `op` at `time`.
    #[inline]
    pub fn schedule_wave(&mut self, time: u64, slot: usize, op: u16) {
        self.calendar.push(time, Event::wave(slot as u32, op).pack());
    }

    /// Schedules a sample or report, unless nothing else can happen any more; at time 0 in any case.
    pub fn schedule_periodic(&mut self, time: u64, kind: Kind) {
        self.schedule_look(time, kind, 0);
    }

    /// Schedules a check of a condition that other events cause, unless no events are left; at time 0 in any case.
    pub fn schedule_look(&mut self, time: u64, kind: Kind, index: u32) {
        if self.calendar.len() > self.periodic || self.now == 0 {
            self.periodic += 1;
            self.schedule(time, kind, index);
        }
    }

    /// A periodic event has come.
    pub fn end_periodic(&mut self) {
        self.periodic -= 1;
        self.looks += 1;
    }

    /// Periodic events that happened: they continue while something long is awaited.
    pub const fn looks(&self) -> u64 {
        self.looks
    }

    /// The next event, which is due now; `ahead` more are noted, if there are enough near ones.
    #[inline]
    pub fn advance(&mut self, ahead: usize) -> Option<Event> {
        let next = self.calendar.pop(ahead)?;
        self.now = next.time;
        Some(Event::unpack(next.what))
    }

    /// The two events after this one, if they are known.
    #[inline(always)]
    pub fn upcoming(&self) -> Option<[Event; 2]> {
        let [soon, later, ..] = self.calendar.upcoming() else { return None };
        Some([Event::unpack(soon.what), Event::unpack(later.what)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_itself_going_ends_with_everything_else() {
        let mut clock = Clock::new();
        clock.schedule(5, Kind::Launch, 0);
        clock.schedule_periodic(10, Kind::Sample);
        clock.schedule_periodic(10, Kind::ReportDue);
        assert_eq!(clock.advance(0).map(|event| event.kind), Some(Kind::Launch));
        assert_eq!(clock.now(), 5);
        assert_eq!(clock.advance(0).map(|event| event.kind), Some(Kind::Sample));
        clock.end_periodic();
        clock.schedule(15, Kind::Launch, 0);
        clock.schedule_periodic(20, Kind::Sample);
        let kinds: Vec<Kind> = std::iter::from_fn(|| clock.advance(0)).map(|event| event.kind).collect();
        assert_eq!(kinds, [Kind::ReportDue, Kind::Launch, Kind::Sample], "something else was left");
        clock.end_periodic();
        clock.schedule_periodic(30, Kind::Sample);
        assert_eq!(clock.advance(0), None, "samples alone do not go on");
        assert_eq!(clock.now(), 20);
    }
}
