//! Work of the host's threads in a phase of a program: the bytes they read and write, produced piece by piece.

use std::borrow::Cow;
use std::ops::Range;

use octavo_manager::Access;

use crate::buffer::{BufferId, Span};
use crate::op::LINE_BYTES;

/// A phase of computation on the host. Its threads run at the same time, each through the sweeps in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPhase {
    /// What tables call it.
    pub name: Cow<'static, str>,
    /// Threads, at least one.
    pub threads: u32,
    /// What they touch.
    pub sweeps: Vec<Sweep>,
}

/// Accesses of the same width at the same distance through a part of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// What is touched.
    pub span: Span,
    /// How.
    pub access: Access,
    /// Bytes of one access, at least one.
    pub width: u64,
    /// Bytes from the beginning of an access to the beginning of the next, at least the width.
    pub stride: u64,
    /// The threads that make the accesses.
    pub by: Threads,
}

/// Which threads of a phase make the accesses of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// All, in contiguous shares that differ by at most one access.
    Shared,
    /// Only the one with this number, from zero.
    One(u32),
}

/// A thread's share of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The buffer of the bytes.
    pub buffer: BufferId,
    /// From the first byte touched to one past the last, from the buffer's start.
    pub bytes: Range<u64>,
    /// How they are touched.
    pub access: Access,
    /// Bytes of one access; the last may be shorter.
    pub width: u64,
    /// Bytes from the beginning of an access to the beginning of the next.
    pub stride: u64,
}

impl HostPhase {
    /// The accesses of one of its threads, in order.
    pub fn pieces(&self, thread: u32) -> impl Iterator<Item = Piece> {
        self.sweeps.iter().filter_map(move |sweep| sweep.piece(thread, self.threads))
    }
}

impl Sweep {
    /// Every byte of `span`, a line at a time, shared by all threads.
    #[must_use]
    pub fn over(span: Span, access: Access) -> Self {
        Self { span, access, width: LINE_BYTES, stride: LINE_BYTES, by: Threads::Shared }
    }

    /// The share of `thread` among `threads` threads, unless it has none.
    fn piece(&self, thread: u32, threads: u32) -> Option<Piece> {
        let Range { start, end } = self.span.bytes;
        let accesses = (end - start).div_ceil(self.stride);
        let mine = match self.by {
            Threads::Shared => share(accesses, thread, threads),
            Threads::One(number) if number == thread => 0..accesses,
            Threads::One(_) => return None,
        };
        let last = mine.end.checked_sub(1).filter(|_| !mine.is_empty())?;
        let bytes = start + mine.start * self.stride..end.min(start + last * self.stride + self.width);
        Some(Piece { buffer: self.span.buffer, bytes, access: self.access, width: self.width, stride: self.stride })
    }
}

/// The contiguous part of `0..count` that the share `index` of `of` has.
fn share(count: u64, index: u32, of: u32) -> Range<u64> {
    let edge = |index: u32| (u128::from(count) * u128::from(index) / u128::from(of)) as u64;
    edge(index)..edge(index + 1)
}

impl Piece {
    /// The bytes of each access, in order.
    pub fn accesses(&self) -> impl Iterator<Item = Range<u64>> {
        let Range { start, end } = self.bytes;
        let count = (end - start).div_ceil(self.stride);
        let (width, stride) = (self.width, self.stride);
        (0..count).map(move |index| start + index * stride..end.min(start + index * stride + width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(threads: u32, sweeps: Vec<Sweep>) -> HostPhase {
        HostPhase { name: "test".into(), threads, sweeps }
    }

    #[test]
    fn threads_share_a_sweep_without_a_gap() {
        let span = Span { buffer: BufferId(1), bytes: 100..1001 };
        let shared = phase(4, vec![Sweep::over(span, Access::Write)]);
        let pieces: Vec<_> = (0..4).flat_map(|thread| shared.pieces(thread)).collect();
        assert_eq!(
            pieces.iter().map(|piece| piece.bytes.clone()).collect::<Vec<_>>(),
            [100..292, 292..548, 548..804, 804..1001]
        );
        let accesses: Vec<_> = pieces.iter().flat_map(Piece::accesses).collect();
        assert_eq!(accesses.len(), 15);
        assert!(accesses.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert_eq!(accesses.last(), Some(&(996..1001)));
    }

    #[test]
    fn strides_leave_gaps_and_one_thread_may_be_alone() {
        let span = Span { buffer: BufferId(0), bytes: 0..100 };
        let sweep = Sweep { span, access: Access::Read, width: 4, stride: 40, by: Threads::One(1) };
        let alone = phase(2, vec![sweep.clone()]);
        assert_eq!(alone.pieces(0).count(), 0);
        let piece = alone.pieces(1).next().unwrap();
        assert_eq!(piece.bytes, 0..84);
        assert_eq!(piece.accesses().collect::<Vec<_>>(), [0..4, 40..44, 80..84]);
        let many = phase(8, vec![Sweep { by: Threads::Shared, ..sweep }]);
        assert_eq!((0..8).flat_map(|thread| many.pieces(thread)).count(), 3, "five threads have nothing to do");
    }
}
