//! Tests of the driver through its public interface.

mod deadlines;
mod scripted;
mod service;
mod steps;
