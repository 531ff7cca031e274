//! Gradients summed over replicas by a ring, as communication libraries do it (NCCL's ring all-reduce).
//!
//! Gradients are cut into one chunk for each replica. In each turn a replica sends one chunk to the next: first its
//! own, then the received sums with its own added, until each replica has one complete chunk, and then complete chunks.
//! Data in transfer lies in the receiver's memory, in turn in one of two slots of 4 MiB.

use std::ops::Range;

use super::step::Step;

/// Bytes of a slot (`NCCL_BUFFSIZE`).
pub const SLOT: u64 = 4 << 20;

/// A replica's actions in a turn: each chunk and slot if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The chunk of its own gradients that it adds or sends.
    pub reads: Option<u32>,
    /// Its slot, which holds what was sent to it in the previous turn.
    pub receives: Option<u32>,
    /// The chunk of its gradients that is complete now.
    pub writes: Option<u32>,
    /// The slot of the next replica that it sends to.
    pub sends: Option<u32>,
}

/// Turns that this many replicas need.
#[must_use]
pub fn turns(replicas: u32) -> u32 {
    2 * (replicas - 1) + 1
}

/// A replica's actions in a turn.
#[must_use]
pub fn turn(replicas: u32, replica: u32, turn: u32) -> Turn {
    let last = replicas - 1;
    // In each turn it handles the chunk before the last turn's chunk; its neighbour has just sent it.
    let chunk = (replica + 2 * replicas - turn) % replicas;
    Turn {
        reads: (turn <= last).then_some(chunk),
        receives: turn.checked_sub(1).map(|before| before % 2),
        writes: (turn >= last).then_some(chunk),
        sends: (turn < 2 * last).then_some(turn % 2),
    }
}

/// The gradients of a step, and the operator before which they are summed.
///
/// Gradients are the tensors that a step leaves for the next one to free. They are complete when the last of them is
/// made: the next operator that reads one is the optimizer's.
#[must_use]
pub fn gradients(step: &Step) -> Option<(Vec<usize>, usize)> {
    let (begins, ends) = (step.begins(), step.ends());
    let left = |tensor: &usize| begins[*tensor].zip(ends[*tensor]).is_some_and(|(begin, end)| end <= begin);
    let found: Vec<usize> = (0..step.tensors.len()).filter(left).collect();
    let complete = found.iter().filter_map(|&tensor| begins[tensor]).max()?;
    let reads = |index: &usize| step.operators[*index].reads.iter().any(|one| found.contains(&one.tensor));
    let optimizer = (complete + 1..step.operators.len()).find(reads)?;
    Some((found, optimizer))
}

/// Runs of lines, one behind another.
#[derive(Debug)]
pub struct Spans {
    spans: Vec<Range<u64>>,
    /// By span: lines in those before it.
    before: Vec<u64>,
    total: u64,
}

impl Spans {
    /// These, in this order.
    #[must_use]
    pub fn new(spans: Vec<Range<u64>>) -> Self {
        let mut total = 0;
        let mut before = Vec::with_capacity(spans.len());
        for span in &spans {
            before.push(total);
            total += span.end - span.start;
        }
        Self { spans, before, total }
    }

    /// The numbers of the lines of a chunk, of `chunks` equal ones.
    #[must_use]
    pub fn chunk(&self, chunks: u32, index: u32) -> Range<u64> {
        let edge = |index: u32| self.total * u64::from(index) / u64::from(chunks);
        edge(index)..edge(index + 1)
    }

    /// The lines with such numbers.
    pub fn part(&self, wanted: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let first = self.before.partition_point(|before| *before <= wanted.start).saturating_sub(1);
        let spans = self.spans[first..].iter().zip(&self.before[first..]);
        spans.take_while(move |(_, before)| **before < wanted.end).filter_map(move |(span, &before)| {
            let start = span.start + wanted.start.saturating_sub(before);
            let end = span.end.min(span.start + wanted.end - before);
            (start < end).then_some(start..end)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_replica_ends_with_the_sum_of_all() {
        for replicas in 2..6u32 {
            let count = replicas as usize;
            // Each gradient as the set of replicas that are in it.
            let mut own = vec![vec![0u32; count]; count];
            (0..count).for_each(|replica| own[replica].fill(1 << replica));
            let mut slots = vec![[0u32; 2]; count];
            for number in 0..turns(replicas) {
                let before = slots.clone();
                for replica in 0..replicas {
                    let does = turn(replicas, replica, number);
                    let [reads, writes] = [does.reads, does.writes].map(|chunk| chunk.map(|chunk| chunk as usize));
                    let got = does.receives.map_or(0, |slot| before[replica as usize][slot as usize]);
                    let value = got | reads.map_or(0, |chunk| own[replica as usize][chunk]);
                    if let Some(chunk) = writes {
                        own[replica as usize][chunk] = value;
                    }
                    if let Some(slot) = does.sends {
                        slots[((replica + 1) % replicas) as usize][slot as usize] = value;
                    }
                }
            }
            assert!(own.iter().flatten().all(|&sum| sum == (1 << replicas) - 1), "{replicas}: {own:?}");
        }
    }

    #[test]
    fn chunks_are_all_lines_once() {
        let spans = Spans::new(vec![10..15, 40..41, 100..110]);
        let lines: Vec<u64> = (0..3).flat_map(|chunk| spans.part(spans.chunk(3, chunk)).flatten()).collect();
        assert_eq!(lines, (10..15).chain(40..41).chain(100..110).collect::<Vec<_>>());
        assert_eq!(spans.part(4..7).collect::<Vec<_>>(), [14..15, 40..41, 100..101]);
        assert_eq!(spans.part(6..6).count(), 0);
    }
}
