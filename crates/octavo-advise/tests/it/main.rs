//! Tests of the whole crate, in one program.

mod budget;
mod penalty;
mod penalty_properties;
mod prefetch;
mod publication;
mod roofline;
mod sparsity;
