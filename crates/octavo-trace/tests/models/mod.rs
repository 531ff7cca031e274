//! Comparing kernel models with recorded traces.

pub mod compare;
pub mod profile;
