//! Traces as workloads.

mod cache;
mod decoded;
mod digest;
mod entry;
mod layout;
mod ops;
mod order;
mod workload;

pub use entry::{ENTRY, TraceOptions};
pub use layout::Layout;
pub use order::InstructionOrder;
pub use workload::TraceWorkload;
