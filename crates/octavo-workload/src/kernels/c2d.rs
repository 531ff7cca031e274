//! 2-D convolution layer.
