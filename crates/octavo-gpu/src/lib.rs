//! Probes that measure the memory system of a real GPU.
//!
//! Nothing here is needed to build, install or test Octavo on a machine without a GPU: the driver and the compiler
//! (NVRTC) are opened when a probe is run, by [`cudarc`]. A probe is one file that says what it measures and how, with
//! its kernels in CUDA C++ beside it; it leaves [`Samples`], one row a measurement. What the samples mean (bandwidths,
//! latencies, costs of faults) is decided by whoever reads them: nothing is fitted here.
#![expect(unsafe_code, reason = "the driver is a C library")]

mod compile;
mod cupti;
mod describe;
mod error;
mod event;
mod gpu;
mod graph;
mod kernel;
mod library;
mod memory;
mod peer;
mod probe;
mod probes;
mod samples;
mod session;
mod signature;
mod stream;

pub use compile::{Architecture, compile, compiler_version};
pub use describe::{Description, describe};
pub use error::GpuError;
pub use gpu::Gpu;
pub use probe::{Effort, Probe, Source, find, probes};
pub use samples::{Column, Samples};
pub use session::{Activity, Measured, Progress, Session, measure};
