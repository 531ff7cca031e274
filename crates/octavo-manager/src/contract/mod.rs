//! Inputs and outputs: names, sizes, events, plans, views and counts. Nothing here decides.

pub(crate) mod block;
pub(crate) mod by_memory;
pub(crate) mod counts;
pub(crate) mod error;
pub(crate) mod event;
pub(crate) mod failure;
pub(crate) mod geometry;
pub(crate) mod ids;
pub(crate) mod kind;
pub(crate) mod masks;
pub(crate) mod page;
pub(crate) mod plan;
pub(crate) mod refusal;
pub(crate) mod topology;
