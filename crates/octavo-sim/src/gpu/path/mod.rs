//! The path of an access from a compute unit to memory.

pub(crate) mod access;
mod blocking;
mod hints;
pub(crate) mod lines;
pub(crate) mod lookup;
pub(crate) mod remote_queue;
mod scalar;
