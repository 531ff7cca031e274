//! Tests of the driver through its public interface.

mod scripted;
mod service;
mod steps;
