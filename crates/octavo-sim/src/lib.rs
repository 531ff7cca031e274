//! A GPU node in simulated time: feeds the memory manager, carries out its plans, keeps the clock.
//!
//! [`simulate`] is the entry point. Time is an integer count of picoseconds; events are ordered by time and by the
//! order in which they were scheduled, so the same scenario and seed give the same bytes on every machine.
#![forbid(unsafe_code)]

mod clock;
pub mod config;
mod costs;
mod failure;
mod links;
mod lru;
mod memory;
mod node;
mod record;
mod reserve;
mod result;
mod simulate;
mod slab;
mod spans;
mod table;
mod translate;

pub use config::NodeConfig;
pub use failure::StrategyFailure;
pub use record::EVENT_KINDS;
pub use result::{Accesses, Breakdown, FrameUse, RunResult, Summary};
pub use simulate::{Progress, RunOptions, SimError, simulate};
pub use table::{Column, Table, Values};
