//! Strategies written as Python classes, behind the manager's traits.
//!
//! The package `octavo.policies` finds classes, checks their options and builds them; here their methods are called and
//! their answers checked. Python's lock is taken for a call and given back after it. A policy that raises an exception
//! or gives an invalid answer is not asked again: harmless answers replace it until the node notices its failure.

mod answers;
mod call;
mod demotion;
mod eviction;
mod guard;
mod memory;
mod outside;
mod placement;
mod prefetch;
mod processors;
mod sharing;
mod views;

pub use answers::{Decision, Hint, Move, Needs, Unsubscribe};
pub use call::take_raised;
pub use demotion::Occupancy;
pub use memory::{Memory, Residency};
pub use outside::{OptionError, extend, resolve as resolve_class};
pub use sharing::{JobMemory, Shortage, Yield};
pub use views::{AccessCount, CounterNotification, Fault, Node, Page, Service};
