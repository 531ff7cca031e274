//! The memory accesses of one instruction.

use octavo_program::{Op, OpKind};

use crate::gpu::caches::line_access::LineAccess;

/// Consecutive lines accessed by one instruction: a load, a store or a scalar load. It takes one word, since every step
/// of an access passes it on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run(Op);

impl Run {
    /// The lines of a load, a store or a scalar load.
    #[inline]
    pub const fn of(op: Op) -> Self {
        Self(op)
    }

    #[inline]
    pub const fn line(self) -> u64 {
        self.0.line()
    }

    #[inline]
    pub const fn count(self) -> u32 {
        self.0.count()
    }

    #[inline]
    pub const fn is_write(self) -> bool {
        self.0.is_store()
    }

    /// Whether the scalar unit loads them.
    #[inline]
    pub fn is_scalar(self) -> bool {
        self.0.kind() == OpKind::ScalarLoad
    }

    /// Some of these lines.
    #[inline]
    pub const fn part(self, line: u64, count: u32) -> Self {
        Self(self.0.over(line, count))
    }

    /// Whether a store leaves bytes of its lines as they were.
    #[inline]
    pub const fn is_partial(self) -> bool {
        self.0.is_partial()
    }

    /// The kind of access to each of its lines.
    #[inline]
    pub const fn line_access(self) -> LineAccess {
        match (self.is_write(), self.0.is_partial()) {
            (false, _) => LineAccess::Load,
            (true, false) => LineAccess::Store,
            (true, true) => LineAccess::PartialStore,
        }
    }
}
