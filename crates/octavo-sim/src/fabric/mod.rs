//! What connects processors.

pub(crate) mod links;
pub(crate) mod memories;
