use crate::parse::{Unit, quantity};
use crate::{Cycles, Time};

const UNITS: &[Unit] = &[("Hz", 1), ("kHz", 1_000), ("MHz", 1_000_000), ("GHz", 1_000_000_000)];

/// A clock frequency in hertz.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frequency(pub u64);

quantity!(Frequency, "a frequency such as 1GHz (Hz, kHz, MHz, GHz)", r"^[0-9_.]+ *[kMG]?Hz$", UNITS, UNITS);

impl Frequency {
    /// The time that `cycles` of this clock take, to the nearest picosecond.
    #[must_use]
    pub fn time_for(self, cycles: Cycles) -> Time {
        let hertz = u128::from(self.0);
        let picoseconds = (u128::from(cycles.0) * 1_000_000_000_000 + hertz / 2) / hertz;
        Time(u64::try_from(picoseconds).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_cycles_to_time() {
        let clock: Frequency = "1020MHz".parse().unwrap();
        assert_eq!(clock.time_for(Cycles(1)), Time(980));
        assert_eq!(clock.time_for(Cycles(56_100)), Time(55_000_000));
    }
}
