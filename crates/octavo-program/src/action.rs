//! Actions of a program other than computing on GPUs, and their order.

use std::sync::Arc;

use octavo_manager::{Advice, ProcessorId};

use crate::buffer::{BufferId, Span};
use crate::host::HostPhase;

/// An action of a program, by its place in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActionId(pub u32);

impl ActionId {
    /// Index into the program's actions.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// One action of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A buffer comes into being.
    Allocate(BufferId),
    /// The host's threads compute.
    Host(HostPhase),
    /// Bytes are copied (`cudaMemcpy`): into GPU memory, out of it, or within it. At least one side is a device buffer;
    /// the other one is, too, or is memory of the host; bytes on several GPUs are one copy for each.
    Copy {
        /// Where they come from.
        from: Span,
        /// Their destination, of the same size.
        to: Span,
    },
    /// Pages that move are brought to the memory of a processor (`cudaMemPrefetchAsync`).
    Prefetch {
        /// Which.
        span: Span,
        /// The processor whose memory gets it.
        to: ProcessorId,
    },
    /// What is in these bytes of managed memory is no longer needed (`cudaMemDiscardBatchAsync`).
    Discard(Span),
    /// Something is said about pages that move (`cudaMemAdvise`).
    Advise {
        /// Which.
        span: Span,
        /// The new advice, which replaces all earlier advice.
        advice: Advice,
    },
    /// A launch of the workload runs.
    Launch {
        /// Its number.
        launch: u32,
        /// The buffers it may touch.
        buffers: Arc<[BufferId]>,
    },
    /// A buffer's memory is given back.
    Free(BufferId),
    /// The host waits until everything this action waits for is done (`cudaDeviceSynchronize`).
    Synchronise,
}

impl Action {
    /// The word for it in tables and messages.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Allocate(_) => "allocate",
            Self::Host(_) => "host",
            Self::Copy { .. } => "copy",
            Self::Prefetch { .. } => "prefetch",
            Self::Discard(_) => "discard",
            Self::Advise { .. } => "advise",
            Self::Launch { .. } => "launch",
            Self::Free(_) => "free",
            Self::Synchronise => "synchronise",
        }
    }

    /// Calls `visit` with every buffer that must exist while the action runs.
    pub(crate) fn uses(&self, mut visit: impl FnMut(BufferId)) {
        match self {
            Self::Host(phase) => phase.sweeps.iter().for_each(|sweep| visit(sweep.span.buffer)),
            Self::Copy { from, to } => [from, to].into_iter().for_each(|span| visit(span.buffer)),
            Self::Prefetch { span, .. } | Self::Discard(span) | Self::Advise { span, .. } => visit(span.buffer),
            Self::Launch { buffers, .. } => buffers.iter().copied().for_each(visit),
            Self::Allocate(_) | Self::Free(_) | Self::Synchronise => {}
        }
    }
}

/// An action, and the actions that must be done before it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordered {
    /// What to do.
    pub action: Action,
    /// The actions it waits for.
    pub after: Vec<ActionId>,
}
