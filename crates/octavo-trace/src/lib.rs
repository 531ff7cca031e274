//! Recorded traces of GPU programs, as `docs/trace-format.md` describes them: written, read, checked and replayed.
//!
//! A trace is a folder of Parquet files: the operations of each wavefront, the allocations, the launches, and perhaps
//! the whole program around the launches. Rows stream through [`TraceWriter`] in program order, with bounded memory for
//! any number of rows.
#![forbid(unsafe_code)]

mod actions;
pub mod convert;
mod error;
mod head;
mod info;
mod lines;
mod ranges;
mod read;
mod record;
mod replay;
mod row;
mod rows;
mod rules;
mod schema;
mod tables;
mod validate;
mod write;

pub use actions::{ActionKind, ActionRow, Memory, NOBODY, SweepRow};
pub use error::TraceError;
pub use head::{Filter, RowView, head};
pub use info::{Info, KernelInfo, ProgramInfo, info};
pub use lines::partial_together;
pub use read::{TraceReader, check_table, holds_program, is_trace};
pub use record::record;
pub use replay::{ENTRY, InstructionOrder, Layout, TraceOptions, TraceWorkload};
pub use row::{Counts, Key, Kind, Row, Touched};
pub use rows::Rows;
pub use rules::RowRules;
pub use schema::{MAX_GROUP_ROWS, MAX_LIST, MAX_NAME_BYTES, MAX_TABLE_ROWS, Version};
pub use tables::{Allocation, Header, LaunchRow, Share};
pub use validate::validate;
pub use write::TraceWriter;
