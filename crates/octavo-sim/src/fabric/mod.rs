//! Connections between processors.

mod direction;
mod host_links;
pub(crate) mod links;
pub(crate) mod memories;
mod pairs;
mod peers;
mod traffic;
mod trunks;
