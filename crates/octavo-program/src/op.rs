//! Operations of a wavefront, packed, and the chunk buffer they are produced into.

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
    /// Vector store to `count` consecutive lines from `line` on. A separate bit distinguishes it from the others.
    Store = 8,
    /// Instructions that touch no memory outside the compute unit: [`Op::instructions`] says how many of which class.
    Compute = 3,
    /// The wavefront waits until at most this many of its memory operations are outstanding (`s_waitcnt`).
    Wait = 4,
    /// Work-group barrier: the wavefront waits for every wavefront of its work-group that has not ended.
    Barrier = 5,
    /// Load by the scalar unit of `count` consecutive lines from `line` on.
    ScalarLoad = 6,
    /// The wavefront runs on into `count` consecutive 64-byte lines of the kernel's code, from `line` (counted from
    /// the kernel's start) on, which it has not run through before.
    Fetch = 7,
}

/// By number; no operation has one of the others.
const KINDS: [OpKind; KIND_MASK as usize + 1] = {
    use OpKind::{Barrier, Compute, End, Fetch, Load, ScalarLoad, Store, Wait};
    [End, Load, End, Compute, Wait, Barrier, ScalarLoad, Fetch, Store, End, End, End, End, End, End, End]
};

/// Instructions by the unit that executes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstructionMix {
    /// On the wavefront's SIMD.
    pub vector: u32,
    /// On the scalar unit.
    pub scalar: u32,
    /// On the local data share (shared memory).
    pub local_data: u32,
    /// On the branch unit.
    pub branch: u32,
}

impl InstructionMix {
    /// Instructions of all classes together.
    #[must_use]
    pub const fn total(self) -> u64 {
        self.vector as u64 + self.scalar as u64 + self.local_data as u64 + self.branch as u64
    }
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
const KIND_MASK: u64 = 0xF;
const CONTINUES: u64 = 1 << 63;
/// Of a store. For a load: it needs loaded data. For a wait: it decides how the kernel continues.
const PARTIAL: u64 = 1 << 62;
const DATA: u64 = PARTIAL;
const PARTIAL_FIRST: u64 = 1 << 61;
const PARTIAL_LAST: u64 = 1 << 60;
/// For a load: the binary logarithm of how many of its lines a cache with banks can serve at once.
const TOGETHER_SHIFT: u32 = 60;
const TOGETHER: u64 = 3 << TOGETHER_SHIFT;
/// Where a compute operation keeps its other counts, in the bits of a memory operation's line.
const SCALAR_BITS: u32 = 14;
const LOCAL_DATA_BITS: u32 = 13;
const LOCAL_DATA_SHIFT: u32 = SCALAR_BITS;
const BRANCH_SHIFT: u32 = SCALAR_BITS + LOCAL_DATA_BITS;
const BRANCH_BITS: u32 = LINE_BITS - BRANCH_SHIFT;

impl Op {
    /// Bits of a line's number: 64 TiB of lines.
    pub const LINE_BITS: u32 = LINE_BITS;

    /// The most lines one operation can span.
    pub const MAX_COUNT: u32 = (1 << COUNT_BITS) - 1;

    /// The end of a wavefront.
    pub const END: Self = Self::new(OpKind::End, 0, 0);
    /// A wait for all outstanding memory operations.
    pub const WAIT: Self = Self::wait_until(0);
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

    /// The most instructions of each class that one compute operation can hold.
    pub const MAX_INSTRUCTIONS: InstructionMix = InstructionMix {
        vector: Self::MAX_COUNT,
        scalar: (1 << SCALAR_BITS) - 1,
        local_data: (1 << LOCAL_DATA_BITS) - 1,
        branch: (1 << BRANCH_BITS) - 1,
    };

    /// Instructions of several classes (each at most [`Op::MAX_INSTRUCTIONS`]), in no particular order.
    #[must_use]
    pub const fn mixed(instructions: InstructionMix) -> Self {
        let InstructionMix { vector, scalar, local_data, branch } = instructions;
        let most = Self::MAX_INSTRUCTIONS;
        debug_assert!(scalar <= most.scalar && local_data <= most.local_data && branch <= most.branch);
        let others = scalar as u64 | (local_data as u64) << LOCAL_DATA_SHIFT | (branch as u64) << BRANCH_SHIFT;
        Self::new(OpKind::Compute, others, vector)
    }

    /// [`Op::mixed`] of this many vector, scalar, local-data and branch instructions: a row of a kernel's cost table.
    #[must_use]
    pub const fn mix(vector: u32, scalar: u32, local_data: u32, branch: u32) -> Self {
        Self::mixed(InstructionMix { vector, scalar, local_data, branch })
    }

    /// A load of `count` consecutive lines by the scalar unit.
    #[must_use]
    pub const fn scalar_load(line: u64, count: u32) -> Self {
        Self::new(OpKind::ScalarLoad, line, count)
    }

    /// The wavefront runs on into `count` lines of code from `line` on.
    #[must_use]
    pub const fn fetch(line: u64, count: u32) -> Self {
        Self::new(OpKind::Fetch, line, count)
    }

    /// A wait until at most `outstanding` vector memory operations, the youngest, are outstanding, and no other.
    #[must_use]
    pub const fn wait_until(outstanding: u32) -> Self {
        Self::new(OpKind::Wait, 0, outstanding)
    }

    /// Marks that the next operation belongs to the same memory instruction.
    #[must_use]
    pub const fn continued(self) -> Self {
        Self(self.0 | CONTINUES)
    }

    /// Marks a load whose address depends on data that was loaded before.
    #[must_use]
    pub const fn after_data(self) -> Self {
        debug_assert!(matches!(self.kind(), OpKind::Load));
        Self(self.0 | DATA)
    }

    /// Marks lines of a load whose words are in different banks, so that a cache of 32 banks can serve 2, 4 or 8 of
    /// them at once: a power of two.
    #[must_use]
    pub const fn together(self, lines: u32) -> Self {
        debug_assert!(matches!(self.kind(), OpKind::Load) && lines.is_power_of_two() && lines <= 8);
        Self(self.0 & !TOGETHER | (lines.trailing_zeros() as u64) << TOGETHER_SHIFT)
    }

    /// How many lines of a load a cache of 32 banks can serve at once; 1 if unknown.
    #[must_use]
    #[inline]
    pub const fn lines_together(self) -> u32 {
        if self.is_store() { 1 } else { 1 << ((self.0 & TOGETHER) >> TOGETHER_SHIFT) }
    }

    /// Whether a load needs data that was loaded before.
    #[must_use]
    pub const fn needs_data(self) -> bool {
        matches!(self.kind(), OpKind::Load) && self.0 & DATA != 0
    }

    /// The same wait, which leaves this many outstanding.
    #[must_use]
    pub const fn leaving(self, outstanding: u32) -> Self {
        debug_assert!(matches!(self.kind(), OpKind::Wait) && outstanding <= Self::MAX_COUNT);
        Self(self.0 & !((Self::MAX_COUNT as u64) << LINE_BITS) | (outstanding as u64) << LINE_BITS)
    }

    /// Marks a wait for data that decide which operations follow.
    #[must_use]
    pub const fn deciding(self) -> Self {
        debug_assert!(matches!(self.kind(), OpKind::Wait));
        Self(self.0 | DATA)
    }

    /// Whether data that a wait is for decide which operations follow.
    #[must_use]
    pub const fn decides(self) -> bool {
        matches!(self.kind(), OpKind::Wait) && self.0 & DATA != 0
    }

    /// Marks a store that leaves some bytes of each of its lines as they were.
    #[must_use]
    pub const fn partial(self) -> Self {
        Self(self.0 | PARTIAL)
    }

    /// Marks a store that leaves some bytes of its first line, of its last, or of both as they were, and fills those
    /// between.
    #[must_use]
    #[inline]
    pub const fn ragged(self, first: bool, last: bool) -> Self {
        if self.count() == 1 {
            return if first || last { self.partial() } else { self };
        }
        Self(self.0 | if first { PARTIAL_FIRST } else { 0 } | if last { PARTIAL_LAST } else { 0 })
    }

    /// Whether a store leaves bytes of all of its lines as they were.
    #[must_use]
    #[inline]
    pub const fn is_partial(self) -> bool {
        self.0 & PARTIAL != 0
    }

    /// Whether a store leaves bytes of some of its lines as they were and fills others.
    #[must_use]
    #[inline]
    pub const fn is_ragged(self) -> bool {
        self.is_store() && self.0 & (PARTIAL_FIRST | PARTIAL_LAST) != 0
    }

    /// The same operation as up to three, which are one instruction still: a store becomes stores each of which fills
    /// all of its lines or none.
    #[inline]
    pub fn uniform(self) -> impl Iterator<Item = Self> {
        let ragged = self.is_ragged();
        let (first, last) = (ragged && self.0 & PARTIAL_FIRST != 0, ragged && self.0 & PARTIAL_LAST != 0);
        let (line, count) = (self.line() + u64::from(first), self.count() - u32::from(first) - u32::from(last));
        let continues = self.0 & CONTINUES;
        let part = move |line, count| Self(Self::new(self.kind(), line, count).0 | continues);
        let head = first.then(|| part(self.line(), 1).partial());
        let body = if first || last { (count > 0).then(|| part(line, count)) } else { Some(self) };
        let tail = last.then(|| part(line + u64::from(count), 1).partial());
        head.into_iter().chain(body).chain(tail)
    }

    /// The same access to `count` consecutive lines from `line` on.
    #[must_use]
    #[inline]
    pub const fn over(self, line: u64, count: u32) -> Self {
        debug_assert!(line < 1 << LINE_BITS && count <= Self::MAX_COUNT);
        let lines = (1 << KIND_SHIFT) - 1;
        Self(self.0 & !lines | line | (count as u64) << LINE_BITS)
    }

    /// Whether this is a vector store.
    #[must_use]
    #[inline]
    pub const fn is_store(self) -> bool {
        self.0 & (OpKind::Store as u64) << KIND_SHIFT != 0
    }

    /// Marks that the operation ends its memory instruction.
    #[must_use]
    #[inline]
    pub const fn last(self) -> Self {
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
        KINDS[(self.0 >> KIND_SHIFT & KIND_MASK) as usize]
    }

    /// Instructions of a compute operation.
    #[must_use]
    #[inline]
    pub const fn instructions(self) -> InstructionMix {
        let others = self.line();
        InstructionMix {
            vector: self.count(),
            scalar: others as u32 & Self::MAX_INSTRUCTIONS.scalar,
            local_data: (others >> LOCAL_DATA_SHIFT) as u32 & Self::MAX_INSTRUCTIONS.local_data,
            branch: (others >> BRANCH_SHIFT) as u32,
        }
    }

    /// Whether a compute operation holds nothing but vector-ALU instructions.
    #[must_use]
    #[inline]
    pub const fn is_vector_only(self) -> bool {
        self.line() == 0
    }

    /// First line of a memory operation.
    #[must_use]
    #[inline]
    pub const fn line(self) -> u64 {
        self.0 & ((1 << LINE_BITS) - 1)
    }

    /// The same operation in a program that lies this many lines further up; only data move, not code.
    #[must_use]
    #[inline]
    pub const fn relocated(self, lines: u64) -> Self {
        match self.kind() {
            OpKind::Load | OpKind::Store | OpKind::ScalarLoad => {
                debug_assert!(self.line() + lines < 1 << LINE_BITS);
                Self(self.0 + lines)
            }
            OpKind::End | OpKind::Compute | OpKind::Wait | OpKind::Barrier | OpKind::Fetch => self,
        }
    }

    /// Lines of a memory operation, vector-ALU instructions of a compute operation, or the number that a wait leaves
    /// outstanding.
    #[must_use]
    #[inline]
    pub const fn count(self) -> u32 {
        (self.0 >> LINE_BITS) as u32 & Self::MAX_COUNT
    }
}

/// A bounded buffer that a [`Workload`](crate::launches::Workload) fills with the next operations of a wavefront.
#[derive(Debug)]
pub struct OpSink<'a> {
    ops: &'a mut [Op],
    len: usize,
    /// The sink accepts no more than this many.
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
    /// one). A caller with many buffers wants a few operations in the first cache line of each, not full buffers.
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

    /// Replaces the operation appended last.
    ///
    /// # Panics
    /// When nothing was appended.
    #[inline]
    pub fn replace_last(&mut self, op: Op) {
        self.ops[self.len - 1] = op;
    }

    /// Changes the operations pushed from place `start` on.
    #[inline]
    pub fn mark_from(&mut self, start: usize, change: impl Fn(Op) -> Op) {
        self.ops[start..self.len].iter_mut().for_each(|op| *op = change(*op));
    }

    /// Moves everything pushed so far up by this many lines.
    #[inline]
    pub(crate) fn relocate(&mut self, lines: u64) {
        self.ops[..self.len].iter_mut().for_each(|op| *op = op.relocated(lines));
    }

    /// Replaces everything pushed so far.
    #[inline]
    pub(crate) fn each(&mut self, change: impl Fn(Op) -> Op) {
        self.ops[..self.len].iter_mut().for_each(|op| *op = change(*op));
    }

    /// The operations pushed so far.
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
        assert!(Op::store(1, 1).partial().is_partial() && !Op::store(1, 1).continued().is_partial());
        let op = Op::store((1 << LINE_BITS) - 1, Op::MAX_COUNT).partial().continued();
        assert_eq!((op.kind(), op.line(), op.count(), op.continues()), (OpKind::Store, (1 << 40) - 1, 65_535, true));
        assert_eq!((Op::END.kind(), Op::WAIT.kind(), Op::BARRIER.kind()), (OpKind::End, OpKind::Wait, OpKind::Barrier));
        assert_eq!((Op::compute(7).kind(), Op::compute(7).count()), (OpKind::Compute, 7));
        let elsewhere = op.over(7, 1);
        assert_eq!((elsewhere.line(), elsewhere.count(), elsewhere.is_partial()), (7, 1, true));
        assert!(elsewhere.is_store() && elsewhere.continues() && !Op::load(7, 1).is_store());
        let scalar = Op::scalar_load(5, 2);
        assert_eq!((scalar.kind(), scalar.line(), scalar.count()), (OpKind::ScalarLoad, 5, 2));
        assert_eq!((Op::fetch(9, 1).kind(), Op::wait_until(3).count()), (OpKind::Fetch, 3));
    }

    #[test]
    fn marks_of_loads_and_waits_are_none_of_stores() {
        let load = Op::load(7, 3).together(4).after_data().continued();
        assert_eq!((load.lines_together(), load.needs_data(), load.is_ragged()), (4, true, false));
        assert_eq!((load.line(), load.count(), load.kind(), load.continues()), (7, 3, OpKind::Load, true));
        assert_eq!(load.together(1).lines_together(), 1);
        let store = Op::store(7, 3).ragged(true, true);
        assert_eq!((store.lines_together(), store.needs_data()), (1, false));
        let wait = Op::wait_until(3).deciding();
        assert_eq!((wait.decides(), wait.leaving(9).decides(), wait.leaving(9).count()), (true, true, 9));
        assert!(!Op::WAIT.decides() && !Op::load(1, 1).needs_data());
    }

    #[test]
    fn ragged_stores_fall_apart_into_what_they_fill_and_what_not() {
        let parts = |op: Op| op.uniform().collect::<Vec<_>>();
        let store = Op::store(7, 5).continued();
        assert!(!store.is_ragged() && parts(store) == [store]);
        let (head, tail) = (Op::store(7, 1).partial().continued(), Op::store(11, 1).partial().continued());
        assert_eq!(parts(store.ragged(true, true)), [head, Op::store(8, 3).continued(), tail]);
        assert_eq!(parts(store.ragged(false, true)), [Op::store(7, 4).continued(), tail]);
        assert_eq!(parts(Op::store(7, 2).ragged(true, true)), [Op::store(7, 1).partial(), Op::store(8, 1).partial()]);
        assert_eq!(Op::store(7, 1).ragged(false, true), Op::store(7, 1).partial());
        assert!(store.ragged(true, false).is_ragged() && !store.partial().is_ragged());
        for other in [Op::END, Op::WAIT, Op::mix(0, 1, 0, 2), store.partial()] {
            assert_eq!(parts(other), [other]);
        }
    }

    #[test]
    fn instructions_of_all_classes_fit_one_operation() {
        let most = Op::MAX_INSTRUCTIONS;
        assert_eq!(Op::mixed(most).instructions(), most);
        let some = InstructionMix { vector: 1, scalar: 2, local_data: 3, branch: 4 };
        assert_eq!((Op::mixed(some).instructions(), Op::mixed(some).kind()), (some, OpKind::Compute));
        assert!(Op::compute(9).is_vector_only() && !Op::mixed(some).is_vector_only());
        assert_eq!(some.total(), 10);
    }
}
