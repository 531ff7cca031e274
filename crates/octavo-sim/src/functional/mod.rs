//! The functional mode: the node without time. The same driver and manager decide, every step of a plan is done at
//! once, and every access is served before the next one is made.
//!
//! # The order of accesses
//!
//! Launches run one after another. Work-groups belong to GPUs by the node's own rule, and each GPU has as many in
//! flight as its compute units hold; when one ends, the next in its GPU's queue takes its place. GPUs take turns, and
//! of each GPU its work-groups in flight, in the order of their places. In its turn, each wavefront of a work-group
//! makes its next few memory instructions ([`InstantOptions::turn`](crate::InstantOptions)), unless it waits at a
//! barrier. Whole programs do one action after another, in the order in which actions become ready.
//!
//! Several jobs advance in rounds ([`rounds`]): each job without an action in progress begins its next one, each thread
//! of the host touches a page, and each GPU has a turn. On a GPU, all work-groups in flight of one job take their
//! turns, then those of the next job: a job has as many turns as its share of the compute units holds work-groups. A
//! job that has ended starts again in the next round, if it has to.
//!
//! So all wavefronts in flight advance at the same rate, whatever they compute and whatever their accesses cost. This
//! order decides which of several racing GPUs touches a page first, and which pages are evicted. Decisions that concern
//! one GPU alone do not depend on it.
//!
//! # What is left out
//!
//! No clock: nothing waits, and compute instructions cost nothing. For strategies that need time, each GPU accesses a
//! line in 16 cycles ([`pace`]). When nothing else happens before a strategy's deadline, the deadline comes at once. No
//! caches and no TLBs: each access to another processor's memory counts, also those that a first-level cache would have
//! answered. No batches: each fault is served alone, and its notifications follow it at once.

mod access;
mod agreement;
mod counts;
mod executor;
mod group;
mod host;
mod job;
mod launch;
mod machine;
mod options;
mod pace;
mod page_order;
mod placement;
mod program;
mod result;
mod ring;
mod rounds;
mod run;
mod runner;
#[cfg(test)]
mod tests;
mod turns;

pub use counts::HostLines;
pub use options::{InstantOptions, InstantProgress};
pub use page_order::page_order;
pub use placement::Placed;
pub use result::{InstantAccesses, InstantJob, InstantResult, InstantSummary, Moved};
pub use runner::{run_at_once, run_jobs_at_once};
