//! Why a conversion failed.

use std::fmt;
use std::path::Path;

use crate::TraceError;

/// A foreign trace that cannot be converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConvertError {
    /// The format has no converter, or cannot be detected from the input.
    Format(String),
    /// The input does not follow its format.
    Input {
        /// The file.
        file: String,
        /// The line, from 1, if the reason is about one.
        line: Option<u64>,
        /// What was found and what was expected.
        reason: String,
    },
    /// The trace cannot be written.
    Output(TraceError),
    /// The progress callback asked to stop.
    Stopped,
}

impl ConvertError {
    /// An error about a whole file of the input.
    pub(super) fn file(file: &Path, reason: impl Into<String>) -> Self {
        Self::Input { file: file.display().to_string(), line: None, reason: reason.into() }
    }

    /// An error about one line of the input.
    pub(super) fn line(file: &Path, line: u64, reason: impl Into<String>) -> Self {
        Self::Input { file: file.display().to_string(), line: Some(line), reason: reason.into() }
    }
}

impl From<TraceError> for ConvertError {
    fn from(error: TraceError) -> Self {
        Self::Output(error)
    }
}

impl fmt::Display for ConvertError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format(reason) => out.write_str(reason),
            Self::Input { file, line: Some(line), reason } => write!(out, "{file}, line {line}: {reason}"),
            Self::Input { file, line: None, reason } => write!(out, "{file}: {reason}"),
            Self::Output(error) => error.fmt(out),
            Self::Stopped => out.write_str("stopped"),
        }
    }
}

impl std::error::Error for ConvertError {}
