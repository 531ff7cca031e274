//! Probes that measure the memory system of a real GPU.
//!
//! Nothing here is needed to build, install or test Octavo on a machine without a GPU: the driver and the compiler
//! (NVRTC) are opened when a probe is run, by [`cudarc`]. A probe is one file that says what it measures and how, with
//! its kernels in CUDA C++ next to it; it returns [`Samples`], one row for each measurement. Their reader decides what
//! the samples mean (bandwidths, latencies, costs of faults): nothing is fitted here.
#![expect(unsafe_code, reason = "the driver is a C library")]

mod cupti;
mod driver;
mod error;
mod facts;
mod host;
mod probes;
mod session;

pub use cupti::activity::Activity;
pub use driver::architecture::Architecture;
pub use driver::code::{Code, Kernels};
pub use driver::compile::{Nvrtc, compile, compile_text};
pub use driver::describe::{Description, describe};
pub use driver::gpu::Gpu;
pub use driver::source::Source;
pub use driver::virtual_memory::{Location, VirtualMemory};
pub use error::GpuError;
pub use facts::{Fact, Facts};
pub use host::describe_host;
pub use probes::{Measured, find, measure, probes};
pub use session::effort::{Effort, Request};
pub use session::probe::Probe;
pub use session::samples::{Column, Samples};
pub use session::{Progress, Session};
