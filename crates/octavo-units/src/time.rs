use std::ops::{Add, AddAssign, Mul, Sub};

use crate::parse::{Unit, quantity};

const PRINTED: &[Unit] =
    &[("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)];
/// With both letters that are drawn as a micro sign.
const PARSED: &[Unit] = &[
    ("ps", 1),
    ("ns", 1_000),
    ("us", 1_000_000),
    ("\u{b5}s", 1_000_000),
    ("\u{3bc}s", 1_000_000),
    ("ms", 1_000_000_000),
    ("s", 1_000_000_000_000),
];

/// A point in simulated time or a duration, in picoseconds. 2⁶⁴ ps are 213 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

quantity!(Time, "a time such as 1.25us (ps, ns, us, ms, s)", r"^[0-9_.]+ *(ps|ns|us|µs|μs|ms|s)$", PARSED, PRINTED);

impl Time {
    /// The start of the simulation, or no time at all.
    pub const ZERO: Self = Self(0);

    /// This duration in seconds, for reports.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0 as f64 * 1e-12
    }
}

impl Add for Time {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Time {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<u64> for Time {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0 * factor)
    }
}

impl AddAssign for Time {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_fractions_exactly_and_prints_the_largest_whole_unit() {
        assert_eq!("1.25us".parse(), Ok(Time(1_250_000)));
        assert_eq!(Time(1_250_000).to_string(), "1250ns");
        assert_eq!("0.1 us".parse(), Ok(Time(100_000)));
        for micro in ["1\u{b5}s", "1\u{3bc}s"] {
            assert_eq!(micro.parse(), Ok(Time(1_000_000)));
        }
        assert_eq!(Time::ZERO.to_string(), "0ps");
    }

    #[test]
    fn refuses_missing_units_fractions_of_a_picosecond_and_overflow() {
        for bad in ["5", "0.5ps", "ns", "-1ns", "1e3ns", "99999999999s", "1KiB", ".5us"] {
            let error = bad.parse::<Time>().unwrap_err();
            assert_eq!(error.found, bad);
        }
    }

    #[test]
    fn a_bare_number_in_a_file_is_refused_with_the_expected_form() {
        let error = serde_json::from_str::<Time>("5").unwrap_err().to_string();
        assert!(error.contains("expected a time such as 1.25us"), "{error}");
    }
}
