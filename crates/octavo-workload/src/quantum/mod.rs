//! Quantum circuits: which gates they have, and what they do to amplitudes.

pub mod amplitudes;
pub mod circuit;
pub mod unitary;
