//! In which order, and how fast, a GPU's faults reach the buffer that the driver reads.

use std::collections::VecDeque;

use octavo_manager::Random;
use octavo_node::FaultBufferConfig;

/// Units beyond this many share a place with others.
const UNITS: usize = 256;

/// Faults that wait to be written to the buffer, an entry for each unit that has the fault. Arbiters take them from the
/// units in no order that a program knows: here each that waits has the same chance.
pub(crate) struct FaultBuffer {
    interval: u64,
    waiting: Vec<Entry>,
    /// Further entries of faults on their way to the driver, in the order in which they arrive.
    under_way: VecDeque<Entry>,
    /// By number of the fault.
    known: Vec<Known>,
    /// When the next entry can be written.
    free: u64,
    /// An entry is about to be written.
    busy: bool,
    random: Random,
}

/// An entry that waits or is under way; of no meaning if the fault has another round by now.
#[derive(Clone, Copy)]
struct Entry {
    fault: u32,
    round: u32,
}

/// What is known of a fault with a number.
#[derive(Clone, Copy, Default)]
struct Known {
    /// How many faults the number has had.
    round: u32,
    /// A bit for each unit that has it.
    units: [u64; UNITS / 64],
    /// Its walk is over, and entries wait.
    walked: bool,
    written: bool,
    /// The driver has its first entry.
    arrived: bool,
    /// Further entries that reached the host before the first one did.
    early: u32,
}

/// What is written to the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// A fault that the buffer did not have.
    First(u32),
    /// Another entry of one that it had.
    Again,
}

impl FaultBuffer {
    pub fn of(config: &FaultBufferConfig, gpu: usize) -> Self {
        Self {
            interval: config.interval.0,
            waiting: Vec::new(),
            under_way: VecDeque::new(),
            known: Vec::new(),
            free: 0,
            busy: false,
            random: Random::new(gpu as u32),
        }
    }

    /// A unit has a fault that nothing is known of.
    pub fn begin(&mut self, fault: u32, unit: usize) {
        let index = fault as usize;
        if index >= self.known.len() {
            self.known.resize(index + 1, Known::default());
        }
        self.end(fault);
        self.mark(fault, unit);
    }

    /// The fault is over: entries of it that wait mean nothing any more.
    pub fn end(&mut self, fault: u32) {
        let round = self.known[fault as usize].round.wrapping_add(1);
        self.known[fault as usize] = Known { round, ..Known::default() };
    }

    /// The walk is over: the entries of all units that have the fault wait from `now` on. When the next entry is
    /// written, unless that is known already.
    pub fn walked(&mut self, now: u64, fault: u32) -> Option<u64> {
        let known = &mut self.known[fault as usize];
        known.walked = true;
        let units: u32 = known.units.iter().map(|word| word.count_ones()).sum();
        let entry = Entry { fault, round: known.round };
        self.waiting.extend((0..units).map(|_| entry));
        self.next(now)
    }

    /// A further unit, or one that has it already, has the fault. When the next entry is written, unless that is known.
    pub fn join(&mut self, now: u64, fault: u32, unit: usize) -> Option<u64> {
        let new = self.mark(fault, unit);
        let Known { walked, round, .. } = self.known[fault as usize];
        if !new || !walked {
            return None;
        }
        self.waiting.push(Entry { fault, round });
        self.next(now)
    }

    fn mark(&mut self, fault: u32, unit: usize) -> bool {
        let (word, bit) = (unit % UNITS / 64, 1 << (unit % 64));
        let units = &mut self.known[fault as usize].units;
        let new = units[word] & bit == 0;
        units[word] |= bit;
        new
    }

    fn next(&mut self, now: u64) -> Option<u64> {
        let first = !std::mem::replace(&mut self.busy, true);
        first.then(|| now.max(self.free))
    }

    /// An entry is written at `now`; and when the next one is, if any waits.
    pub fn write(&mut self, now: u64) -> (Option<Written>, Option<u64>) {
        let taken = self.take();
        self.busy = taken.is_some() && !self.waiting.is_empty();
        self.free = if taken.is_some() { now + self.interval } else { self.free };
        (taken, self.busy.then_some(self.free))
    }

    /// The first entry of a fault reaches the driver: how many further ones were there before it.
    pub fn first_arrives(&mut self, fault: u32) -> u32 {
        let known = &mut self.known[fault as usize];
        known.arrived = true;
        std::mem::take(&mut known.early)
    }

    /// The next further entry reaches the host. Whether the driver sees it now: not if the fault is over, and not before
    /// the fault's first entry.
    pub fn further_arrives(&mut self) -> bool {
        let known = self.under_way.pop_front().and_then(|entry| self.known_of(entry));
        known.is_some_and(|known| {
            known.early += u32::from(!known.arrived);
            known.arrived
        })
    }

    /// What is known of an entry's fault, unless that is over.
    fn known_of(&mut self, entry: Entry) -> Option<&mut Known> {
        let known = &mut self.known[entry.fault as usize];
        (known.round == entry.round).then_some(known)
    }

    fn take(&mut self) -> Option<Written> {
        while !self.waiting.is_empty() {
            let place = self.random.below(self.waiting.len() as u32) as usize;
            let entry = self.waiting.swap_remove(place);
            let Some(known) = self.known_of(entry) else { continue };
            if !std::mem::replace(&mut known.written, true) {
                return Some(Written::First(entry.fault));
            }
            self.under_way.push_back(entry);
            return Some(Written::Again);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use octavo_units::Time;

    use super::*;

    fn buffer() -> FaultBuffer {
        FaultBuffer::of(&FaultBufferConfig { interval: Time(10) }, 0)
    }

    /// What is written, and when, until nothing waits.
    fn all(buffer: &mut FaultBuffer, mut next: Option<u64>) -> Vec<(u64, Written)> {
        let mut found = Vec::new();
        while let Some(now) = next {
            let (written, then) = buffer.write(now);
            found.extend(written.map(|written| (now, written)));
            next = then;
        }
        found
    }

    #[test]
    fn each_unit_has_an_entry_and_each_fault_a_first_one() {
        let mut buffer = buffer();
        buffer.begin(3, 0);
        assert_eq!([buffer.join(4, 3, 1), buffer.join(4, 3, 1)], [None, None], "the walk is not over");
        let next = buffer.walked(5, 3);
        assert_eq!(next, Some(5));
        assert_eq!([buffer.join(5, 3, 2), buffer.join(5, 3, 2)], [None, None], "the next is known");
        let entries = [(5, Written::First(3)), (15, Written::Again), (25, Written::Again)];
        assert_eq!(all(&mut buffer, next), entries, "three units");
        assert_eq!(buffer.join(26, 3, 9), Some(35), "not before the interval is over");
    }

    #[test]
    fn the_driver_sees_further_entries_after_the_first_and_none_of_a_fault_that_is_over() {
        let mut buffer = buffer();
        let write_three = |buffer: &mut FaultBuffer| {
            buffer.begin(0, 0);
            (1..3).for_each(|unit| assert_eq!(buffer.join(0, 0, unit), None));
            let next = buffer.walked(0, 0);
            assert_eq!(all(buffer, next).len(), 3);
        };
        write_three(&mut buffer);
        assert!(!buffer.further_arrives(), "before the first");
        assert_eq!(buffer.first_arrives(0), 1, "it waited");
        assert!(buffer.further_arrives(), "behind the first");
        write_three(&mut buffer);
        assert_eq!(buffer.first_arrives(0), 0);
        buffer.end(0);
        assert_eq!([buffer.further_arrives(), buffer.further_arrives()], [false; 2], "the fault is over");
    }

    #[test]
    fn a_fault_that_is_over_leaves_nothing_behind() {
        let mut buffer = buffer();
        buffer.begin(0, 0);
        let next = buffer.walked(0, 0);
        buffer.end(0);
        assert_eq!(all(&mut buffer, next), []);
        buffer.begin(0, 7);
        let next = buffer.walked(2, 0);
        assert_eq!(all(&mut buffer, next), [(2, Written::First(0))], "the number's next fault");
    }

    #[test]
    fn faults_are_written_in_no_order_but_always_in_the_same() {
        let order = || {
            let mut buffer = buffer();
            (0..64).for_each(|fault| buffer.begin(fault, 0));
            let times: Vec<_> = (0..64).map(|fault| buffer.walked(0, fault)).collect();
            let next = times[0];
            all(&mut buffer, next).into_iter().map(|(_, written)| written).collect::<Vec<_>>()
        };
        let in_order: Vec<_> = (0..64).map(Written::First).collect();
        assert_ne!(order(), in_order);
        assert_eq!(order(), order());
        assert!(in_order.iter().all(|written| order().contains(written)));
    }
}
