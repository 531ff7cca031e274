//! How full each memory is, and, if a strategy requests it, the contents of its frames.

mod check;
pub(crate) mod content;
pub(crate) mod evacuation;
pub(crate) mod fragmentation;
mod frame_content;
mod frame_set;
pub(crate) mod frameless;
pub(crate) mod frames;
pub(crate) mod large_frame;
pub(crate) mod store;
pub(crate) mod usage;
