//! What connects processors.

pub(crate) mod links;
