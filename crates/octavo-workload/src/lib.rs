//! Streams of kernel accesses: what the wavefronts of a GPU program read, write and compute, in program order.
//!
//! A [`Workload`] is a set of named buffers and a sequence of kernel launches. For each wavefront of a launch it
//! produces a stream of [`Op`]s lazily, a chunk at a time; nothing is ever stored whole. Nothing here knows about
//! time, GPUs' memory systems or where pages live.
#![forbid(unsafe_code)]

mod buffer;
mod characterise;
mod dispatch;
pub mod emit;
pub mod kernels;
mod mix;
mod op;
pub mod random;
mod registry;
pub mod scale;
mod workload;

pub use buffer::{AddressSpace, BUFFER_ALIGNMENT, Buffer, pages_of};
pub use characterise::{
    BufferCharacteristics, Characteristics, Instructions, PageClass, Setting, Traffic, characterise,
};
pub use dispatch::Dispatch;
pub use mix::{Application, Mix};
pub use op::{InstructionMix, LINE_BYTES, Op, OpKind, OpSink};
pub use registry::{Size, WORKLOADS, WorkloadEntry};
pub use workload::{Cursor, Launch, Resources, Workload};
