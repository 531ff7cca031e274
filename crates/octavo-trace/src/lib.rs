//! Recorded traces of GPU programs, as `docs/trace-format.md` describes them: written, read, checked and replayed.
//!
//! A trace is a folder of three Parquet files: what each wavefront did, what was allocated, what was launched. Rows
//! stream through [`TraceWriter`] in program order, with bounded memory whatever their number.
#![forbid(unsafe_code)]

pub mod convert;
mod error;
mod head;
mod info;
mod lines;
mod ranges;
mod read;
mod replay;
mod row;
mod rows;
mod rules;
mod schema;
mod tables;
mod validate;
mod write;

pub use error::TraceError;
pub use head::{Filter, RowView, head};
pub use info::{Info, KernelInfo, info};
pub use lines::partial_together;
pub use read::TraceReader;
pub use replay::{ENTRY, Layout, TraceOptions, TraceWorkload};
pub use row::{Counts, Key, Kind, Row, Touched};
pub use rows::Rows;
pub use rules::RowRules;
pub use schema::{MAX_GROUP_ROWS, VERSION};
pub use tables::{Allocation, Header, LaunchRow, Share};
pub use validate::validate;
pub use write::TraceWriter;
