//! The program around the launches of a trace: rows of `actions.parquet`, and their meaning.

mod launch_allocations;
mod launches;
mod meaning;
mod row;
mod rows;

pub(crate) use launch_allocations::{Named, Turn, unnamed};
pub(crate) use launches::Broken;
pub(crate) use meaning::program_of;
pub use row::{ActionKind, ActionRow, Memory, NOBODY, SweepRow};
pub(crate) use rows::rows_of;
