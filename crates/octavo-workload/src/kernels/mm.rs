//! Matrix multiplication.
