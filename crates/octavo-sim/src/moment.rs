//! Moments of a run.

use std::fmt;

use octavo_units::Time;

/// When something was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// In simulated time.
    Time(Time),
    /// After this many line accesses, if there is no time.
    Lines(u64),
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => write!(f, "at {time}"),
            Self::Lines(lines) => write!(f, "after {lines} line accesses"),
        }
    }
}
