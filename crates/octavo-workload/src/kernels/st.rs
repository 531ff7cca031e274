//! Stencil 2-D.
