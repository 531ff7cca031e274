//! The program around the launches of a trace: rows of `actions.parquet`, and their meaning.

mod given;
mod launches;
mod meaning;
mod named;
mod row;

pub(crate) use given::rows_of;
pub(crate) use launches::Broken;
pub(crate) use meaning::program_of;
pub(crate) use named::{Named, Turn, unnamed};
pub use row::{ActionKind, ActionRow, Memory, NOBODY, SweepRow};
