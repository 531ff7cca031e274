//! A GPU node in simulated time: feeds the memory manager, carries out its plans, keeps the clock.
//!
//! [`simulate`](fn@simulate) is the entry point. Time is an integer count of picoseconds; events are ordered by time
//! and by the order in which they were scheduled, so the same scenario and seed give the same bytes on every machine.
#![forbid(unsafe_code)]

mod beginning;
mod bound;
mod cpu;
mod engine;
mod error;
mod estimate;
mod fabric;
mod failure;
mod functional;
mod gpu;
mod job;
mod lot;
mod machine;
mod moment;
mod observe;
mod rounds;
mod simulate;
mod stall;

pub use bound::{MemoryBound, MemoryEstimate, MemoryMet};
pub use cpu::cores::HostAccesses;
pub use error::SimError;
pub use estimate::{Kept, estimate_memory};
pub use failure::StrategyFailure;
pub use functional::{
    HostLines, InstantAccesses, InstantJob, InstantOptions, InstantProgress, InstantResult, InstantSummary, Moved,
    Placed, page_order, run_at_once, run_jobs_at_once,
};
pub use gpu::counts::Accesses;
pub use gpu::units::occupancy::groups_at_once;
pub use job::{Job, Repeat};
pub use moment::When;
pub use observe::breakdown::Breakdown;
pub use observe::columns::{ColumnMeaning, Of, TABLES, TableMeaning};
pub use observe::jobs::{JobCounts, JobSummary};
pub use observe::phases::Phases;
pub use observe::record::event_kinds;
pub use observe::result::{FrameUse, HostMemoryUse, RunResult, Summary};
pub use observe::table::{Column, Table, Values};
pub use simulate::{MemoryLine, Progress, RunOptions, TakeLine, simulate, simulate_jobs};
pub use stall::Stall;
