//! What a wavefront does: packed operations, and the chunk buffer they are produced into.

/// Bytes of a cache line, the unit of memory operations (GCN-class L1 and L2).
pub const LINE_BYTES: u64 = 64;

/// What an [`Op`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum OpKind {
    /// The wavefront is finished; always the last operation of a stream.
    End = 0,
    /// Vector load of `count` consecutive lines from `line` on.
    Load = 1,
    /// Vector store to `count` consecutive lines from `line` on.
    Store = 2,
    /// `count` vector-ALU instructions.
    Compute = 3,
    /// The wavefront waits until all its outstanding memory operations have completed (`s_waitcnt 0`).
    Wait = 4,
    /// Work-group barrier: the wavefront waits for every wavefront of its work-group that has not ended.
    Barrier = 5,
}

/// One packed operation of a wavefront: kind, count and first line in eight bytes.
///
/// A memory instruction whose lanes touch several runs of lines is several `Op`s, of which all but the last have
/// [`Op::continues`] set: together they are one instruction, issued once, one line transaction a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Op(u64);

const LINE_BITS: u32 = 40;
const COUNT_BITS: u32 = 16;
const KIND_SHIFT: u32 = LINE_BITS + COUNT_BITS;
const CONTINUES: u64 = 1 << 63;

impl Op {
    /// The most lines one operation can span.
    pub const MAX_COUNT: u32 = (1 << COUNT_BITS) - 1;

    /// The end of a wavefront.
    pub const END: Self = Self::new(OpKind::End, 0, 0);
    /// A wait for all outstanding memory operations.
    pub const WAIT: Self = Self::new(OpKind::Wait, 0, 0);
    /// A work-group barrier.
    pub const BARRIER: Self = Self::new(OpKind::Barrier, 0, 0);

    const fn new(kind: OpKind, line: u64, count: u32) -> Self {
        debug_assert!(line < 1 << LINE_BITS && count <= Self::MAX_COUNT);
        Self(line | (count as u64) << LINE_BITS | (kind as u64) << KIND_SHIFT)
    }

    /// A load of `count` consecutive lines, the first of which is `line` (address divided by [`LINE_BYTES`]).
    #[must_use]
    pub const fn load(line: u64, count: u32) -> Self {
        Self::new(OpKind::Load, line, count)
    }

    /// A store to `count` consecutive lines.
    #[must_use]
    pub const fn store(line: u64, count: u32) -> Self {
        Self::new(OpKind::Store, line, count)
    }

    /// `instructions` vector-ALU instructions in a row (at most [`Op::MAX_COUNT`]).
    #[must_use]
    pub const fn compute(instructions: u32) -> Self {
        Self::new(OpKind::Compute, 0, instructions)
    }

    /// Marks that the next operation belongs to the same memory instruction.
    #[must_use]
    pub const fn continued(self) -> Self {
        Self(self.0 | CONTINUES)
    }

    /// Marks that the operation ends its memory instruction.
    pub(crate) const fn last(self) -> Self {
        Self(self.0 & !CONTINUES)
    }

    /// Whether the next operation belongs to the same memory instruction.
    #[must_use]
    pub const fn continues(self) -> bool {
        self.0 & CONTINUES != 0
    }

    /// What the operation does.
    #[must_use]
    #[inline]
    pub const fn kind(self) -> OpKind {
        match (self.0 >> KIND_SHIFT) & 0x7 {
            0 => OpKind::End,
            1 => OpKind::Load,
            2 => OpKind::Store,
            3 => OpKind::Compute,
            4 => OpKind::Wait,
            _ => OpKind::Barrier,
        }
    }

    /// First line of a memory operation.
    #[must_use]
    #[inline]
    pub const fn line(self) -> u64 {
        self.0 & ((1 << LINE_BITS) - 1)
    }

    /// Lines of a memory operation, or instructions of a compute operation.
    #[must_use]
    #[inline]
    pub const fn count(self) -> u32 {
        (self.0 >> LINE_BITS) as u32 & Self::MAX_COUNT
    }
}

/// A bounded buffer that a [`Workload`](crate::Workload) fills with the next operations of a wavefront.
#[derive(Debug)]
pub struct OpSink<'a> {
    ops: &'a mut [Op],
    len: usize,
    /// When this many are there, no more are asked for.
    enough: usize,
}

impl<'a> OpSink<'a> {
    /// Free operations that a workload may rely on at each call, enough for a gather by 64 lanes and its trimmings.
    pub const MIN_CAPACITY: usize = 96;

    /// An empty sink over `ops`, which must hold at least [`OpSink::MIN_CAPACITY`] operations.
    #[must_use]
    pub fn new(ops: &'a mut [Op]) -> Self {
        debug_assert!(ops.len() >= Self::MIN_CAPACITY);
        Self { ops, len: 0, enough: usize::MAX }
    }

    /// The same sink, which says that nothing [remains](OpSink::remaining) once it has `enough` operations (at least
    /// one): whoever keeps many buffers wants a few operations in the first cache line of each, not full buffers.
    #[must_use]
    pub fn until(self, enough: usize) -> Self {
        Self { enough, ..self }
    }

    /// Appends an operation.
    ///
    /// # Panics
    /// When the sink is full; producers check [`OpSink::remaining`] first.
    #[inline]
    pub fn push(&mut self, op: Op) {
        self.ops[self.len] = op;
        self.len += 1;
    }

    /// Replaces the operation appended last, of which there is one.
    #[inline]
    pub(crate) fn replace_last(&mut self, op: Op) {
        self.ops[self.len - 1] = op;
    }

    /// What was pushed so far.
    #[must_use]
    #[inline]
    pub fn as_slice(&self) -> &[Op] {
        &self.ops[..self.len]
    }

    /// How many more operations fit; none if there are enough.
    #[must_use]
    #[inline]
    pub fn remaining(&self) -> usize {
        if self.len < self.enough { self.ops.len() - self.len } else { 0 }
    }

    /// How many operations were pushed.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing was pushed yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packs_and_unpacks() {
        let op = Op::store((1 << LINE_BITS) - 1, Op::MAX_COUNT).continued();
        assert_eq!((op.kind(), op.line(), op.count(), op.continues()), (OpKind::Store, (1 << 40) - 1, 65_535, true));
        assert_eq!((Op::END.kind(), Op::WAIT.kind(), Op::BARRIER.kind()), (OpKind::End, OpKind::Wait, OpKind::Barrier));
        assert_eq!((Op::compute(7).kind(), Op::compute(7).count()), (OpKind::Compute, 7));
    }
}
