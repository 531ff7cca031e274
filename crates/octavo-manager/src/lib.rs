//! The unified-memory manager: a pure state machine that decides where pages live. No clock, no I/O, no threads.
//!
//! Events go in ([`Event`]), plans come out ([`Plan`]). A call changes the manager's state at once; the plan says
//! what the driver of the manager (a simulated node, a live back-end) has to do to make it so, and is acknowledged
//! when done.
#![forbid(unsafe_code)]

mod event;
mod ids;
mod plan;

pub use event::{AccessCount, CounterNotification, CounterSpec, Event, Fault, Needs, ReportSpec};
pub use ids::{Access, HOST, MAX_PROCESSORS, PageId, PageRun, ProcessorId, ProcessorMask};
pub use plan::{Cause, MappingMode, Permission, Plan, PlanId, Step};
