//! General matrix multiply.
