//! The output of a run: tables, a timeline, totals.

pub(crate) mod breakdown;
pub(crate) mod columns;
pub(crate) mod jobs;
pub(crate) mod phases;
pub(crate) mod record;
pub(crate) mod result;
pub(crate) mod spans;
pub(crate) mod table;
pub(crate) mod waits;
