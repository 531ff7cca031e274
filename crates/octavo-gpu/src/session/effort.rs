//! The effort of a probe: sizes and repetitions.

use std::time::Duration;

/// The request to a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// How much is measured.
    pub effort: Effort,
    /// Whether CUPTI is opened, if it exists, to record what the driver does.
    pub recording: bool,
    /// How long a point is repeated; the default of the effort if left out.
    pub point_time: Option<Duration>,
}

/// How much is measured; it does not change how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Few sizes and repetitions: the whole suite in less than a minute.
    Quick,
    /// All sizes and repetitions: less than ten minutes.
    Full,
}

impl Request {
    /// How long a point is repeated, unless it has been repeated often enough before.
    pub(crate) fn point_time(self) -> Duration {
        self.point_time.unwrap_or(self.effort.choose(Duration::from_millis(50), Duration::from_millis(500)))
    }
}

impl Effort {
    /// `quick` or `full`, by effort.
    pub(crate) fn choose<T>(self, quick: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Full => full,
        }
    }
}
