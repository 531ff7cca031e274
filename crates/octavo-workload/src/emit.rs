//! From the lanes' accesses of a wavefront to memory operations, as a coalescer would merge them.
//!
//! Lanes that touch the same line share one transaction, and transactions go in lane first-touch order; consecutive
//! lines become one [`Op`]. All functions push one whole instruction, so callers check [`OpSink::remaining`] before:
//! one slot for a span, at most [`WAVEFRONT_LANES`] for a gather.

use std::ops::Range;

use octavo_program::{Cursor, LINE_BYTES, Op, OpSink};

/// Lanes of a wavefront (GCN).
pub const WAVEFRONT_LANES: u32 = 64;

/// Lets `part` push the parts of a wavefront in order, numbered from 0 in the first word of `cursor`, while there is
/// room. A part is at most [`OpSink::MIN_CAPACITY`] operations, and may be none; the part that pushes [`Op::END`] is
/// the last.
#[inline]
pub fn parts(cursor: &mut Cursor, out: &mut OpSink<'_>, mut part: impl FnMut(u32, &mut OpSink<'_>)) {
    while out.remaining() >= OpSink::MIN_CAPACITY {
        part(cursor.0[0], out);
        if out.as_slice().last() == Some(&Op::END) {
            return;
        }
        cursor.0[0] += 1;
    }
}

/// Like [`parts`], for `count` parts that push no end: it follows the last.
#[inline]
pub fn steps(cursor: &mut Cursor, out: &mut OpSink<'_>, count: u32, mut step: impl FnMut(u32, &mut OpSink<'_>)) {
    parts(cursor, out, |part, out| if part == count { out.push(Op::END) } else { step(part, out) });
}

/// Share `index` of `of` equal contiguous shares of `amount`.
#[inline]
pub fn share(amount: u64, index: u64, of: u64) -> Range<u64> {
    let edge = |index: u64| (u128::from(amount) * u128::from(index) / u128::from(of)) as u64;
    edge(index)..edge(index + 1)
}

/// All of `ops`.
#[inline]
pub fn push_all(out: &mut OpSink<'_>, ops: &[Op]) {
    ops.iter().for_each(|op| out.push(*op));
}

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
        out.push(store(address, bytes));
    }
}

/// A load by the scalar unit of the line that holds the element at `address`.
#[inline]
pub fn load_scalar(out: &mut OpSink<'_>, address: u64) {
    out.push(Op::scalar_load(address / LINE_BYTES, 1));
}

/// A store of the contiguous bytes `[address, address + bytes)`, of which there are some: it fills the lines between
/// the first and the last.
#[inline]
pub fn store(address: u64, bytes: u64) -> Op {
    let (line, count) = lines_of_span(address, bytes);
    Op::store(line, count).ragged(!address.is_multiple_of(LINE_BYTES), !(address + bytes).is_multiple_of(LINE_BYTES))
}

/// One load of several contiguous spans of (address, bytes) that ascend without overlapping; empty ones count for
/// nothing.
#[inline]
pub fn load_ascending(out: &mut OpSink<'_>, spans: impl IntoIterator<Item = (u64, u64)>) {
    let (mut first, mut count) = (0, 0);
    spans.into_iter().filter(|(_, bytes)| *bytes != 0).for_each(|(address, bytes)| {
        let (line, lines) = lines_of_span(address, bytes);
        if count != 0 && line <= first + u64::from(count) {
            count = (line - first) as u32 + lines;
        } else {
            if count != 0 {
                out.push(Op::load(first, count).continued());
            }
            (first, count) = (line, lines);
        }
    });
    if count != 0 {
        out.push(Op::load(first, count));
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
    let mut lines = Gather { start: out.len(), seen: Seen::default() };
    let mut banks = Banks::default();
    // Internal iteration: nested and filtered iterators become plain loops.
    addresses.into_iter().for_each(|address| {
        banks.touch(address);
        lines.touch(out, address / LINE_BYTES);
    });
    lines.finish(out, &banks);
}

/// Like [`load_lanes`], at addresses computed from loaded data.
#[inline]
pub fn gather_lanes(out: &mut OpSink<'_>, addresses: impl IntoIterator<Item = u64>) {
    let start = out.len();
    load_lanes(out, addresses);
    out.mark_from(start, Op::after_data);
}

/// One store of `bytes` bytes by each of the lanes at `addresses`; otherwise like [`load_lanes`].
#[inline]
pub fn store_lanes(out: &mut OpSink<'_>, addresses: impl IntoIterator<Item = u64>, bytes: u64) {
    let mut lines = Scatter { lines: [(0, 0); WAVEFRONT_LANES as usize], count: 0, seen: Seen::default() };
    let written = u64::MAX >> (LINE_BYTES - bytes);
    addresses.into_iter().for_each(|address| lines.touch(address / LINE_BYTES, written << (address % LINE_BYTES)));
    lines.finish(out);
}

/// One instruction under construction: the operations pushed since `start` are its runs of distinct lines so far.
struct Gather {
    start: usize,
    seen: Seen,
}

impl Gather {
    #[inline]
    fn touch(&mut self, out: &mut OpSink<'_>, line: u64) {
        let runs = &out.as_slice()[self.start..];
        let Some(last) = runs.last().copied() else {
            self.seen.insert(line);
            return out.push(Op::load(line, 1).continued());
        };
        let (behind, count) = (line.wrapping_sub(last.line()), u64::from(last.count()));
        // Neighbouring lanes often touch the same line.
        if behind < count || self.seen.insert(line) && runs.iter().any(|run| contains(*run, line)) {
            return;
        }
        if behind == count {
            out.replace_last(Op::load(last.line(), last.count() + 1).continued());
        } else {
            out.push(Op::load(line, 1).continued());
        }
    }

    /// The last run ends the instruction. Lines of which a cache can give several at once are marked.
    #[inline]
    fn finish(self, out: &mut OpSink<'_>, banks: &Banks) {
        let runs = &out.as_slice()[self.start..];
        let Some(last) = runs.last().copied() else { return };
        out.replace_last(last.last());
        let lines: u32 = out.as_slice()[self.start..].iter().map(|run| run.count()).sum();
        let together = lines / banks.busiest().max(1);
        if together > 1 {
            let together = (1 << together.ilog2()).min(MOST_TOGETHER);
            out.mark_from(self.start, |run| run.together(together));
        }
    }
}

/// Lines that a load can be marked to get at once.
const MOST_TOGETHER: u32 = 8;
/// Lanes of a warp, which a cache of NVIDIA's serves by itself, and its banks, a word wide.
const WARP: usize = 32;
const BANKS: usize = 32;

/// How often lanes need each bank of a cache; those that need the same word share it.
struct Banks {
    lane: usize,
    loads: [u8; BANKS],
    /// The latest word of each bank.
    words: [u64; BANKS],
    /// Of the warps before.
    busiest: u32,
}

impl Default for Banks {
    fn default() -> Self {
        Self { lane: 0, loads: [0; BANKS], words: [u64::MAX; BANKS], busiest: 0 }
    }
}

impl Banks {
    #[inline]
    fn touch(&mut self, address: u64) {
        if self.lane == WARP {
            *self = Self { busiest: self.busiest(), ..Self::default() };
        }
        self.lane += 1;
        let word = address / 4;
        let bank = word as usize % BANKS;
        self.loads[bank] += u8::from(self.words[bank] != word);
        self.words[bank] = word;
    }

    /// Words that the busiest bank gives, warp by warp.
    #[inline]
    fn busiest(&self) -> u32 {
        self.busiest + u32::from(self.loads.iter().copied().max().unwrap_or(0))
    }
}

/// A store under construction: its distinct lines, with a bit for each byte that is written.
struct Scatter {
    lines: [(u64, u64); WAVEFRONT_LANES as usize],
    count: usize,
    seen: Seen,
}

impl Scatter {
    #[inline]
    fn touch(&mut self, line: u64, written: u64) {
        if self.seen.insert(line)
            && let Some((_, bytes)) = self.lines[..self.count].iter_mut().rev().find(|(found, _)| *found == line)
        {
            *bytes |= written;
            return;
        }
        self.lines[self.count] = (line, written);
        self.count += 1;
    }

    /// Consecutive lines, all of them filled or none, are one operation.
    #[inline]
    fn finish(self, out: &mut OpSink<'_>) {
        let lines = self.lines[..self.count].iter().map(|(line, bytes)| (*line, *bytes != u64::MAX));
        let mut run: Option<(u64, u32, bool)> = None;
        let store = |(first, count, partial): (u64, u32, bool)| {
            if partial { Op::store(first, count).partial() } else { Op::store(first, count) }
        };
        for (line, partial) in lines {
            run = match run {
                Some((first, count, before)) if line == first + u64::from(count) && partial == before => {
                    Some((first, count + 1, partial))
                }
                Some(before) => {
                    out.push(store(before).continued());
                    Some((line, 1, partial))
                }
                None => Some((line, 1, partial)),
            };
        }
        if let Some(last) = run {
            out.push(store(last));
        }
    }
}

#[inline]
fn contains(run: Op, line: u64) -> bool {
    line.wrapping_sub(run.line()) < u64::from(run.count())
}

/// Which lines an instruction may have touched already: a set with false positives only, so that scattered lanes rarely
/// have to be compared with all lanes before them.
#[derive(Default)]
struct Seen([u64; 4]);

impl Seen {
    /// Adds `line`; whether it may have been there before.
    #[inline]
    fn insert(&mut self, line: u64) -> bool {
        // Fibonacci hashing to 256 bits: the top bits of the product depend on all bits of the line.
        let bit = line.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56;
        let (word, mask) = (&mut self.0[(bit >> 6) as usize], 1 << (bit & 63));
        let before = *word & mask != 0;
        *word |= mask;
        before
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
        assert_eq!(collect(|out| store_span(out, 128, 255)), [Op::store(2, 4).ragged(false, true)]);
        assert_eq!(collect(|out| store_span(out, 132, 252)), [Op::store(2, 4).ragged(true, false)]);
        assert_eq!(collect(|out| store_span(out, 132, 4)), [Op::store(2, 1).partial()]);
        assert_eq!(collect(|out| load_span(out, 128, 0)), []);
    }

    #[test]
    fn ascending_spans_share_lines_and_runs() {
        let spans = [(0, 4), (60, 4), (70, 0), (128, 4), (256, 65), (384, 4)];
        let expected = [Op::load(0, 1).continued(), Op::load(2, 1).continued(), Op::load(4, 3)];
        assert_eq!(collect(|out| load_ascending(out, spans)), expected);
        assert_eq!(collect(|out| load_ascending(out, [(8, 0)])), []);
    }

    #[test]
    fn lanes_become_unique_lines_in_first_touch_order_with_runs_merged() {
        let addresses = [640, 644, 704, 64, 0, 660, 192, 256, 320];
        let expected =
            [Op::load(10, 2).continued(), Op::load(1, 1).continued(), Op::load(0, 1).continued(), Op::load(3, 3)];
        assert_eq!(collect(|out| load_lanes(out, addresses)), expected);
        assert_eq!(collect(|out| store_lanes(out, [], 4)), []);
        let partial = [Op::store(1, 1).partial().continued(), Op::store(0, 1).partial()];
        assert_eq!(collect(|out| store_lanes(out, [64, 0], 4)), partial);
        assert_eq!(collect(|out| store_lanes(out, [0, 64], 64)), [Op::store(0, 2)]);
        let words = (1..36).rev().map(|word| 4 * word);
        let filled = [(2, true), (1, false), (0, true)].map(|(line, partial)| {
            let op = if partial { Op::store(line, 1).partial() } else { Op::store(line, 1) };
            if line == 0 { op } else { op.continued() }
        });
        assert_eq!(collect(|out| store_lanes(out, words, 4)), filled, "line 1 is filled, the others are not");
    }

    #[test]
    fn sixty_four_colliding_lines_stay_distinct() {
        let addresses: Vec<u64> = (0..64).map(|lane| lane * (64 << 21)).collect();
        let ops = collect(|out| load_lanes(out, addresses.iter().chain(&addresses).copied().take(64)));
        assert_eq!(ops.len(), 64);
        assert!(ops[..63].iter().all(|op| op.continues()) && !ops[63].continues());
    }
}
