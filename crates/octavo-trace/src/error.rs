//! The problem of a trace, and its place.

use std::fmt;
use std::path::Path;

/// A trace that cannot be read or written: file, row if it is about one, and the reason in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// The file.
    pub file: String,
    /// The row (from 0), or the line of a text file (from 1), that the reason is about.
    pub row: Option<u64>,
    /// What was expected and what was found.
    pub reason: String,
}

impl TraceError {
    /// An error about a whole file.
    #[must_use]
    pub fn new(file: &Path, reason: impl Into<String>) -> Self {
        Self { file: file.display().to_string(), row: None, reason: reason.into() }
    }

    /// An error about one row of a file.
    #[must_use]
    pub fn at(file: &Path, row: u64, reason: impl Into<String>) -> Self {
        Self { row: Some(row), ..Self::new(file, reason) }
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.row {
            Some(row) => write!(out, "{}, row {row}: {}", self.file, self.reason),
            None => write!(out, "{}: {}", self.file, self.reason),
        }
    }
}

impl std::error::Error for TraceError {}
