//! Where a value of a scenario was written.

use std::fmt;

/// A file or an override, and the line in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// A file name, `--set key=value`, or `preset NAME`.
    pub source: String,
    /// Line in the file, counted from 1.
    pub line: Option<usize>,
}

impl Origin {
    /// Somewhere in `source`.
    #[must_use]
    pub fn whole(source: &str) -> Self {
        Self { source: source.to_owned(), line: None }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.source),
            None => f.write_str(&self.source),
        }
    }
}
