//! What a GPU program is, apart from any particular one: buffers, launches and what their wavefronts do.
//!
//! A [`Workload`] is a set of named buffers and a sequence of kernel launches. For each wavefront of a launch it
//! produces a stream of [`Op`]s lazily, a chunk at a time; nothing is ever stored whole. Nothing here knows about
//! time, GPUs' memory systems or where pages live, nor of a particular kernel.
#![forbid(unsafe_code)]

mod buffer;
mod characterise;
mod dispatch;
mod entry;
mod launches;
mod mix;
mod op;

pub use buffer::{AddressSpace, BUFFER_ALIGNMENT, Buffer, pages_of};
pub use characterise::{
    BufferCharacteristics, Characteristics, Instructions, PageClass, Setting, Traffic, characterise,
};
pub use dispatch::Dispatch;
pub use entry::{Size, WorkloadEntry};
pub use launches::{Application, Cursor, Launch, Resources, Workload};
pub use mix::Mix;
pub use op::{InstructionMix, LINE_BYTES, Op, OpKind, OpSink};
