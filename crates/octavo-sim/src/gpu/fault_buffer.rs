//! In which order, and how fast, a GPU's faults reach the buffer that the driver reads.

use octavo_manager::Random;
use octavo_node::FaultBufferConfig;

/// Units beyond this many share a place with others.
const UNITS: usize = 256;

/// Faults that wait to be written to the buffer, an entry for each unit that has the fault. Arbiters take them from the
/// units in no order that a program knows: here each that waits has the same chance.
pub(crate) struct FaultBuffer {
    interval: u64,
    /// Numbers of faults, one for each unit that has it.
    waiting: Vec<u32>,
    /// By number of the fault.
    known: Vec<Known>,
    /// When the next entry can be written.
    free: u64,
    /// An entry is about to be written.
    busy: bool,
    random: Random,
}

/// What is known of a fault.
#[derive(Clone, Copy, Default)]
struct Known {
    /// A bit for each unit that has it.
    units: [u64; UNITS / 64],
    written: bool,
}

/// What is written to the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// A fault that the buffer did not have.
    First(u32),
    /// The same fault from another unit.
    Again(u32),
}

impl FaultBuffer {
    pub fn of(config: &FaultBufferConfig, gpu: usize) -> Self {
        Self {
            interval: config.interval.0,
            waiting: Vec::new(),
            known: Vec::new(),
            free: 0,
            busy: false,
            random: Random::new(gpu as u32),
        }
    }

    /// A fault begins that nothing is known of.
    pub fn begin(&mut self, fault: u32) {
        let index = fault as usize;
        if index >= self.known.len() {
            self.known.resize(index + 1, Known::default());
        }
        self.known[index] = Known::default();
    }

    /// A unit has the fault. Whether it did not have it before.
    pub fn join(&mut self, fault: u32, unit: usize) -> bool {
        let (word, bit) = (unit % UNITS / 64, 1 << (unit % 64));
        let units = &mut self.known[fault as usize].units;
        let new = units[word] & bit == 0;
        units[word] |= bit;
        new
    }

    /// An entry of a fault waits from `now` on. When the next is written, unless that is known already.
    pub fn wait(&mut self, now: u64, fault: u32) -> Option<u64> {
        self.waiting.push(fault);
        let first = !std::mem::replace(&mut self.busy, true);
        first.then(|| now.max(self.free))
    }

    /// An entry is written; and when the next one is, if any waits.
    pub fn write(&mut self, now: u64) -> (Option<Written>, Option<u64>) {
        self.free = now + self.interval;
        let count = self.waiting.len() as u32;
        let taken = (count > 0).then(|| self.waiting.swap_remove(self.random.below(count) as usize));
        let written = taken.map(|fault| {
            let again = std::mem::replace(&mut self.known[fault as usize].written, true);
            if again { Written::Again(fault) } else { Written::First(fault) }
        });
        self.busy = !self.waiting.is_empty();
        (written, self.busy.then_some(self.free))
    }

    /// The fault is over without having been written, or is to be written anew: entries of it that wait are gone.
    pub fn forget(&mut self, fault: u32) {
        self.waiting.retain(|&waiting| waiting != fault);
    }
}
