//! Quantum circuits: their gates, and the effect on amplitudes.

pub mod amplitudes;
pub mod circuit;
pub mod unitary;
