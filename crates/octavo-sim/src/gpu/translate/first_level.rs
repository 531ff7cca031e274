//! The first-level TLBs of a GPU.

/// A first-level TLB: of a compute unit, or of a scalar cache.
#[derive(Clone, Copy)]
pub(crate) enum FirstLevel {
    Vector(usize),
    Scalar(usize),
}
