//! A turn of the ring as a launch: each replica reads, adds, writes and sends lines of its gradients.

use std::ops::Range;
use std::sync::Arc;

use octavo_program::{Op, OpSink};

use super::grain::{LINES_AT_ONCE, LINES_EACH, WAVEFRONTS};
use super::ring::{Spans, turn};
use crate::emit::share;

/// A turn, ready to be streamed.
pub struct Exchange {
    /// Which one, from 0.
    pub turn: u32,
    /// How many take part.
    pub replicas: u32,
    /// Lines from the memory of one replica to the memory of the next.
    pub apart: u64,
    /// Lines of a slot.
    pub slot: u64,
    /// Gradients of the first replica.
    pub spans: Arc<Spans>,
    /// By replica: first line of its two slots.
    pub received: Arc<[u64]>,
}

impl Exchange {
    fn longest(&self) -> u64 {
        let lengths = (0..self.replicas).map(|chunk| self.spans.chunk(self.replicas, chunk));
        lengths.map(|lines| lines.end - lines.start).max().unwrap_or(0)
    }

    /// Work-groups of each replica.
    pub fn groups(&self) -> u32 {
        self.longest().div_ceil(LINES_EACH * u64::from(WAVEFRONTS)).max(1) as u32
    }

    fn wavefronts(&self) -> u64 {
        u64::from(self.groups() * WAVEFRONTS)
    }

    /// How many times each wavefront does its part.
    pub fn steps(&self) -> u32 {
        self.longest().div_ceil(self.wavefronts()).div_ceil(LINES_AT_ONCE) as u32
    }

    /// Step `number` of a wavefront of a replica.
    pub fn part(&self, replica: u32, wavefront: u64, number: u32, out: &mut OpSink<'_>) {
        let does = turn(self.replicas, replica, self.turn);
        let Some(chunk) = does.reads.or(does.writes) else { return };
        let chunk = self.spans.chunk(self.replicas, chunk);
        let steps = u64::from(self.steps());
        let index = wavefront * steps + u64::from(number);
        let piece = share(chunk.end - chunk.start, index, self.wavefronts() * steps);
        let own = || self.spans.part(chunk.start + piece.start..chunk.start + piece.end);
        let behind = u64::from(replica) * self.apart;
        let load = |out: &mut OpSink<'_>, lines: Range<u64>| out.push(Op::load(lines.start, count(&lines)));
        let store = |out: &mut OpSink<'_>, lines: Range<u64>| out.push(Op::store(lines.start, count(&lines)));
        if piece.is_empty() {
            return;
        }
        if does.reads.is_some() {
            own().for_each(|lines| load(out, lines.start + behind..lines.end + behind));
        }
        if let Some(slot) = does.receives {
            self.slots(replica, slot, &piece).for_each(|lines| load(out, lines));
        }
        out.push(Op::WAIT);
        out.push(Op::compute(count(&piece)));
        if does.writes.is_some() {
            own().for_each(|lines| store(out, lines.start + behind..lines.end + behind));
        }
        if let Some(slot) = does.sends {
            self.slots((replica + 1) % self.replicas, slot, &piece).for_each(|lines| store(out, lines));
        }
    }

    /// The lines of a slot that this piece of a chunk passes through; a full slot starts again at its beginning.
    fn slots(&self, replica: u32, slot: u32, piece: &Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let first = self.received[replica as usize] + u64::from(slot) * self.slot;
        let (start, length) = (piece.start % self.slot, piece.end - piece.start);
        let end = (start + length).min(self.slot);
        let again = length - (end - start);
        [start..end, 0..again]
            .into_iter()
            .filter(|lines| !lines.is_empty())
            .map(move |lines| first + lines.start..first + lines.end)
    }
}

fn count(lines: &Range<u64>) -> u32 {
    (lines.end - lines.start) as u32
}
