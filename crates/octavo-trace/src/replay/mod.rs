//! Traces as workloads.

mod cache;
mod digest;
mod entry;
mod layout;
mod ops;
mod order;
mod row_group;
mod workload;

pub use entry::{ENTRY, TraceOptions};
pub use layout::Layout;
pub use order::InstructionOrder;
pub use workload::TraceWorkload;
