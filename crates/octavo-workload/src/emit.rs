//! From what the lanes of a wavefront touch to memory operations, as a coalescer would merge them.
//!
//! Lanes that touch the same line share one transaction, and transactions go in lane first-touch order; consecutive
//! lines become one [`Op`]. All functions push one whole instruction, so callers check [`OpSink::remaining`] before:
//! one slot for a span, at most [`WAVEFRONT_LANES`] for a gather.

use crate::{LINE_BYTES, Op, OpKind, OpSink};

/// Lanes of a wavefront (GCN).
pub const WAVEFRONT_LANES: u32 = 64;

/// One load of the contiguous bytes `[address, address + bytes)`; nothing when `bytes` is zero.
#[inline]
pub fn load_span(out: &mut OpSink<'_>, address: u64, bytes: u64) {
    if bytes != 0 {
        let (line, count) = lines_of_span(address, bytes);
        out.push(Op::load(line, count));
    }
}

/// One store of the contiguous bytes `[address, address + bytes)`; nothing when `bytes` is zero.
#[inline]
pub fn store_span(out: &mut OpSink<'_>, address: u64, bytes: u64) {
    if bytes != 0 {
        let (line, count) = lines_of_span(address, bytes);
        out.push(Op::store(line, count));
    }
}

/// First line and number of lines of a non-empty span of bytes.
#[inline]
fn lines_of_span(address: u64, bytes: u64) -> (u64, u32) {
    let first = address / LINE_BYTES;
    let last = (address + bytes - 1) / LINE_BYTES;
    (first, (last - first + 1) as u32)
}

/// One load by lanes at `addresses`, in lane order, inactive lanes left out; nothing when there are none.
///
/// At most [`WAVEFRONT_LANES`] addresses, each of an element that does not straddle a line.
#[inline]
pub fn load_lanes(out: &mut OpSink<'_>, addresses: impl IntoIterator<Item = u64>) {
    push_lanes(out, OpKind::Load, addresses);
}

/// One store by lanes at `addresses`; as [`load_lanes`].
#[inline]
pub fn store_lanes(out: &mut OpSink<'_>, addresses: impl IntoIterator<Item = u64>) {
    push_lanes(out, OpKind::Store, addresses);
}

#[inline]
fn push_lanes(out: &mut OpSink<'_>, kind: OpKind, addresses: impl IntoIterator<Item = u64>) {
    let mut lines = UniqueLines::new();
    for address in addresses {
        lines.touch(address / LINE_BYTES);
    }
    push_runs(out, kind, lines.as_slice());
}

/// Pushes `lines` as one instruction, runs of consecutive lines merged.
#[inline]
fn push_runs(out: &mut OpSink<'_>, kind: OpKind, lines: &[u64]) {
    let op = |first, count| if kind == OpKind::Store { Op::store(first, count) } else { Op::load(first, count) };
    let Some((&head, rest)) = lines.split_first() else { return };
    let (mut first, mut count) = (head, 1);
    for &line in rest {
        if line == first + u64::from(count) {
            count += 1;
        } else {
            out.push(op(first, count).continued());
            (first, count) = (line, 1);
        }
    }
    out.push(op(first, count));
}

const SLOTS: usize = 2 * WAVEFRONT_LANES as usize;

/// Up to 64 distinct lines in first-touch order; a small open-addressing index on the stack keeps touching cheap
/// where lanes scatter (comparing with every earlier line costs several times as much).
struct UniqueLines {
    lines: [u64; WAVEFRONT_LANES as usize],
    len: usize,
    /// Position in `lines` plus one; zero is free.
    slots: [u8; SLOTS],
}

impl UniqueLines {
    #[inline]
    fn new() -> Self {
        Self { lines: [0; WAVEFRONT_LANES as usize], len: 0, slots: [0; SLOTS] }
    }

    #[inline]
    fn touch(&mut self, line: u64) {
        // Neighbouring lanes mostly touch the same line.
        if self.len > 0 && self.lines[self.len - 1] == line {
            return;
        }
        let mut slot = (line ^ (line >> 7) ^ (line >> 14)) as usize % SLOTS;
        loop {
            match self.slots[slot] {
                0 => break,
                position if self.lines[usize::from(position) - 1] == line => return,
                _ => slot = (slot + 1) % SLOTS,
            }
        }
        self.lines[self.len] = line;
        self.len += 1;
        self.slots[slot] = self.len as u8;
    }

    #[inline]
    fn as_slice(&self) -> &[u64] {
        &self.lines[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(fill: impl FnOnce(&mut OpSink<'_>)) -> Vec<Op> {
        let mut ops = vec![Op::END; OpSink::MIN_CAPACITY];
        let mut sink = OpSink::new(&mut ops);
        fill(&mut sink);
        let len = sink.len();
        ops.truncate(len);
        ops
    }

    #[test]
    fn spans_cover_every_line_they_touch() {
        assert_eq!(collect(|out| load_span(out, 60, 8)), [Op::load(0, 2)]);
        assert_eq!(collect(|out| store_span(out, 128, 256)), [Op::store(2, 4)]);
        assert_eq!(collect(|out| load_span(out, 128, 0)), []);
    }

    #[test]
    fn lanes_become_unique_lines_in_first_touch_order_with_runs_merged() {
        let addresses = [640, 644, 704, 64, 0, 660, 192, 256, 320];
        let expected =
            [Op::load(10, 2).continued(), Op::load(1, 1).continued(), Op::load(0, 1).continued(), Op::load(3, 3)];
        assert_eq!(collect(|out| load_lanes(out, addresses)), expected);
        assert_eq!(collect(|out| store_lanes(out, [])), []);
    }

    #[test]
    fn sixty_four_colliding_lines_stay_distinct() {
        let addresses: Vec<u64> = (0..64).map(|lane| lane * (64 << 21)).collect();
        let ops = collect(|out| load_lanes(out, addresses.iter().chain(&addresses).copied().take(64)));
        assert_eq!(ops.len(), 64);
        assert!(ops[..63].iter().all(|op| op.continues()) && !ops[63].continues());
    }
}
