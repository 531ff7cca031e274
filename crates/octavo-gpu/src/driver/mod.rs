//! The driver's calls and the compiler's, made safe: a GPU, its memory, kernels, streams, times.

pub(crate) mod architecture;
pub(crate) mod buffers;
pub(crate) mod code;
pub(crate) mod compile;
mod context;
pub(crate) mod describe;
pub(crate) mod event;
pub(crate) mod gpu;
pub(crate) mod graph;
pub(crate) mod kernel;
mod library;
pub(crate) mod memory;
pub(crate) mod peer;
pub(crate) mod place;
mod signature;
pub(crate) mod source;
pub(crate) mod stream;
pub(crate) mod virtual_memory;
