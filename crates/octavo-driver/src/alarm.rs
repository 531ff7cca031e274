//! Times at which the driver wants to be called, and a list of them for executors without a calendar.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use octavo_units::Time;

/// Work that the driver continues at a known time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Alarm {
    /// A server has served a fault, by its number.
    FaultServed(u32),
    /// A server has served a counter notification, by its number.
    CounterServed(u32),
    /// The interrupt of an idle driver has come: it takes a batch of a queue, by its number.
    BatchTaken(u32),
    /// A batch of a queue is served, by its number.
    BatchServed(u32),
    /// A plan continues, by its slot.
    Plan(u32),
    /// A strategy of the manager wants to be asked.
    Strategies,
}

/// Alarms in order of time; alarms of one time in the order in which they were set.
#[derive(Default)]
pub(crate) struct Agenda {
    alarms: BinaryHeap<Reverse<(Time, u64, Alarm)>>,
    set: u64,
}

impl Agenda {
    pub fn set(&mut self, at: Time, alarm: Alarm) {
        self.alarms.push(Reverse((at, self.set, alarm)));
        self.set += 1;
    }

    /// The time of the first alarm.
    pub fn deadline(&self) -> Option<Time> {
        self.alarms.peek().map(|Reverse((at, ..))| *at)
    }

    /// Takes the first alarm that is due.
    pub fn due(&mut self, now: Time) -> Option<(Time, Alarm)> {
        self.deadline().filter(|at| *at <= now)?;
        self.alarms.pop().map(|Reverse((at, _, alarm))| (at, alarm))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alarms_of_one_time_come_in_the_order_in_which_they_were_set() {
        let mut agenda = Agenda::default();
        agenda.set(Time(5), Alarm::Plan(1));
        agenda.set(Time(3), Alarm::BatchServed(0));
        agenda.set(Time(5), Alarm::BatchTaken(0));
        assert_eq!(agenda.deadline(), Some(Time(3)));
        assert_eq!(agenda.due(Time(2)), None);
        let due: Vec<_> = std::iter::from_fn(|| agenda.due(Time(5))).collect();
        assert_eq!(due, [(Time(3), Alarm::BatchServed(0)), (Time(5), Alarm::Plan(1)), (Time(5), Alarm::BatchTaken(0))]);
    }
}
