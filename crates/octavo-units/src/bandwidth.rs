use crate::Time;
use crate::parse::{Unit, quantity};

const UNITS: &[Unit] =
    &[("B/s", 1), ("KB/s", 1_000), ("MB/s", 1_000_000), ("GB/s", 1_000_000_000), ("TB/s", 1_000_000_000_000)];

/// A data rate in bytes a second (decimal multiples, as link and memory data sheets give them).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bandwidth(pub u64);

quantity!(
    Bandwidth,
    "a bandwidth such as 300GB/s (B/s, KB/s, MB/s, GB/s, TB/s)",
    r"^[0-9_.]+ *[KMGT]?B/s$",
    UNITS,
    UNITS
);

impl Bandwidth {
    /// Time to move `bytes` at this rate, rounded up to a whole picosecond.
    ///
    /// # Panics
    /// If the bandwidth is zero; configurations refuse that before a simulation starts.
    #[must_use]
    pub fn time_for(self, bytes: u64) -> Time {
        let picoseconds = (u128::from(bytes) * 1_000_000_000_000).div_ceil(u128::from(self.0));
        Time(u64::try_from(picoseconds).unwrap_or(u64::MAX))
    }

    /// Whole bytes moved in `time` at this rate.
    #[must_use]
    pub fn bytes_in(self, time: Time) -> u64 {
        u64::try_from(u128::from(self.0) * u128::from(time.0) / 1_000_000_000_000).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_over_nvlink_takes_fourteen_nanoseconds() {
        let link: Bandwidth = "300GB/s".parse().unwrap();
        assert_eq!(link.time_for(4096), Time(13_654));
        assert_eq!(link.bytes_in(Time(64_000)), 19_200);
    }
}
