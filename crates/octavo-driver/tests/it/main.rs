//! Tests of the driver through its public interface.

mod classes;
mod conformance;
mod deadlines;
mod own_placement;
mod refusals;
mod scripted;
mod service;
mod steps;
mod vain;
