//! The programs that come with Octavo: the real algorithms as streams of accesses, at line level.
//!
//! [`WORKLOADS`] has them all by name. `octavo-program` defines what a program is. This crate has the [kernel
//! models](kernels), [networks], models that [serve requests](serving) and their common parts.
#![forbid(unsafe_code)]

pub mod emit;
pub mod graphs;
pub mod inputs;
pub mod kernels;
pub mod networks;
pub mod notes;
pub mod quantum;
pub mod random;
mod registry;
pub mod scale;
pub mod serving;

pub use registry::WORKLOADS;
