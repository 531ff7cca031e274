//! Traces as workloads.

mod cache;
mod decoded;
mod digest;
mod entry;
mod layout;
mod ops;
mod workload;

pub use entry::{ENTRY, TraceOptions};
pub use layout::Layout;
pub use workload::TraceWorkload;
