//! The host's side of translation.

pub(crate) mod walkers;
