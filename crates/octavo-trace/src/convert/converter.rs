//! The request to a converter, and its report.

use std::path::Path;

use super::error::ConvertError;
use super::watch::Watch;

/// A format that can be converted.
pub struct Converter {
    /// What a user types.
    pub name: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// What writes the format.
    pub source: &'static str,
    /// Whether a file or folder looks like it.
    pub detect: fn(&Path) -> bool,
    pub(super) convert: fn(&Conversion<'_>, &mut Watch<'_>) -> Result<Summary, ConvertError>,
}

/// What to convert, and where to.
#[derive(Clone, Copy, Debug)]
pub struct Conversion<'a> {
    /// Name of a converter; if left out, it is detected from the input.
    pub format: Option<&'a str>,
    /// File or folder of the foreign trace.
    pub input: &'a Path,
    /// The trace folder to write.
    pub output: &'a Path,
    /// Replace an existing trace.
    pub replace: bool,
}

/// What a conversion did.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Summary {
    /// Name of the converter.
    pub format: &'static str,
    /// Launches written.
    pub launches: u64,
    /// Rows written.
    pub rows: u64,
    /// Allocations written.
    pub allocations: u64,
    /// Instructions of the input that are a row or counted in one.
    pub instructions: u64,
    /// Losses and guesses, and how many of each.
    pub notes: Vec<(String, u64)>,
}

/// The folder that `path` lies in.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}
