//! GPU programs in general: buffers, launches and the work of their wavefronts.
//!
//! A [`Workload`] is a set of named buffers and a sequence of kernel launches. For each wavefront of a launch it
//! produces a stream of [`Op`]s lazily, a chunk at a time; nothing is ever stored whole. Nothing here knows about time,
//! the memory systems of GPUs, the location of pages, or a particular kernel.
//!
//! A whole [`Program`] is such a workload together with the actions around its launches. It has buffers of some kind
//! that are allocated, written and read by the host, copied and freed. [`lower`] makes one of any workload and kind.
#![forbid(unsafe_code)]

mod action;
mod buffer;
mod characterise;
mod check;
mod dispatch;
mod entry;
mod existence;
mod forward;
mod host;
mod host_side;
mod inference;
mod launches;
mod listing;
mod lives;
mod lower;
mod mix;
mod op;
mod order;
mod packed;
mod padding;
mod program;
mod share;
mod strips;
mod whole;

pub use action::{Action, ActionId, Ordered};
pub use buffer::{AddressSpace, BUFFER_ALIGNMENT, Buffer, BufferId, ProgramBuffer, Span, pages_of};
pub use characterise::{
    BufferCharacteristics, Characteristics, Instructions, PageClass, Room, Setting, Traffic, characterise,
    characterise_filled,
};
pub use check::{ActionFault, ProgramError};
pub use dispatch::Dispatch;
pub use entry::{Size, WorkloadEntry};
pub use existence::{Data, Existence, Frames};
pub use host::{HostPhase, Piece, Sweep, Threads};
pub use host_side::{Exchange, HostSide, HostSideBuilder, Role};
pub use launches::{Application, Cursor, Launch, Resources, Workload, footprint_pages};
pub use listing::{ListedAction, ListedBuffer, Listing};
pub use lives::{ALWAYS, most_at_once};
pub use lower::{Before, Bring, Exception, Lowering, ProgramKind, Rewriter, lower, lower_in_strips};
pub use mix::Mix;
pub use op::{InstructionMix, LINE_BYTES, Op, OpKind, OpSink};
pub use order::Order;
pub use packed::Packed;
pub use program::{Program, ProgramBuilder};
pub use share::Share;
pub use strips::{Look, Strip, Stripped, Strips, StripsRefused};
pub use whole::WholeWorkload;
