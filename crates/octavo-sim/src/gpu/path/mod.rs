//! The path of an access from a compute unit to memory.

mod access;
mod blocking;
pub(crate) mod defer;
mod hints;
mod scalar;
mod sizes;
pub(crate) mod waiting;
