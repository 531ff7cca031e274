//! Tests of the driver through its public interface.

mod deadlines;
mod refusals;
mod scripted;
mod service;
mod steps;
