//! The functional mode: the node without time. The same driver and manager decide, every step of a plan is done at
//! once, and every access is served before the next one is made.
//!
//! # The order of accesses
//!
//! Launches run one after another. Work-groups belong to GPUs by the node's own rule, and as many are in flight on each
//! GPU as its compute units hold; when one ends, the next of its GPU's queue takes its place. GPUs take turns, and of
//! each GPU its work-groups in flight, in the order of their places. In its turn, each wavefront of a work-group makes
//! its next few memory instructions ([`InstantOptions::turn`](crate::InstantOptions)), unless it waits at a barrier.
//! Whole programs do one action after another: of those that could begin, the one that became ready first.
//!
//! Several jobs go on in rounds ([`rounds`]): each that has nothing under way does what comes next, each thread of the host
//! touches a page, and each GPU has a turn. On a GPU, all work-groups in flight of one job have their turns, then those of
//! the next: a job has as many turns as its share of the compute units holds work-groups. A job that has ended begins
//! anew in the next round, if it has to.
//!
//! So all wavefronts in flight go on alike, whatever they compute and whatever their accesses cost. Who touches a page
//! first among GPUs that race for it, and what is evicted by whom, depends on that order; what one GPU alone decides does
//! not.
//!
//! # What there is not
//!
//! No clock: nothing waits, and compute instructions are nothing. Strategies that ask for time are told that each GPU
//! accesses a line in 16 cycles ([`pace`]), and when nothing goes on until a time of theirs, it comes at once. No caches and no TLBs: each access to another
//! processor's memory counts, also those that a first-level cache would have answered. No batches: each fault is
//! served alone, and its notifications follow it at once.

mod access;
mod agreement;
mod counts;
mod executor;
mod group;
mod host;
mod job;
mod launch;
mod machine;
mod pace;
mod page_order;
mod placement;
mod program;
mod result;
mod ring;
mod rounds;
mod run;
#[cfg(test)]
mod tests;
mod turns;

pub use page_order::page_order;
pub use placement::Placed;
pub use result::{HostLines, InstantAccesses, InstantJob, InstantResult, InstantSummary, Moved};
pub use run::{InstantOptions, InstantProgress, run_at_once, run_jobs_at_once};
