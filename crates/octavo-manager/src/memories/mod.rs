//! How full each memory is, and, where a strategy asks for it, which of its frames hold what.

mod check;
pub(crate) mod content;
pub(crate) mod evacuation;
mod filling;
pub(crate) mod fragmentation;
mod frame_set;
pub(crate) mod frames;
pub(crate) mod large_frame;
pub(crate) mod store;
pub(crate) mod usage;
