//! The lines that memories of GPUs read and write, in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;

use crate::error::SimError;
use crate::gpu::caches::memory_traffic::PassedLine;
use crate::machine::node::Node;
use crate::machine::occurrence::Listen;

/// A line of 64 bytes that the memory of a GPU reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLine {
    /// When, in picoseconds of simulated time.
    pub time: u64,
    /// The GPU, from 0.
    pub gpu: usize,
    /// Address of its first byte: the program's own. Code lies behind all data.
    pub address: u64,
    /// Whether it is written.
    pub write: bool,
}

/// Who takes lines.
pub type TakeLine<'a> = dyn FnMut(MemoryLine) -> io::Result<()> + 'a;

/// Lines on their way to who takes them.
pub(super) struct Lines<'p> {
    take: &'p mut TakeLine<'p>,
    /// Those that a later event may still come before, by time and then in the order in which they were simulated.
    waiting: BinaryHeap<Reverse<(u64, u64, Line)>>,
    seen: u64,
    /// The time of the last line that was passed on. What was asked for before, but is simulated later, comes with it.
    last: u64,
}

/// A line without its time.
type Line = (usize, u64, bool);

impl<'p> Lines<'p> {
    /// From here on, the node keeps lines.
    pub fn begin<L: Listen>(take: &'p mut TakeLine<'p>, node: &mut Node<'_, L>) -> Result<Self, SimError> {
        if !node.keep_lines() {
            let reason = "`node.fidelity` is page, which follows no single lines: expected line".to_owned();
            return Err(SimError::Lines { reason });
        }
        Ok(Self { take, waiting: BinaryHeap::new(), seen: 0, last: 0 })
    }

    /// Passes on what no later event can come before; at the end, everything.
    pub fn pass_on<L: Listen>(&mut self, node: &mut Node<'_, L>, ended: bool) -> Result<(), SimError> {
        node.take_lines(|PassedLine { time, gpu, line, write }| {
            self.waiting.push(Reverse((time, self.seen, (gpu, line, write))));
            self.seen += 1;
        });
        let now = node.now();
        while let Some(Reverse((time, _, (gpu, line, write)))) = self.waiting.peek().copied() {
            if time > now && !ended {
                break;
            }
            self.waiting.pop();
            self.last = self.last.max(time);
            let line = MemoryLine { time: self.last, gpu, address: line * octavo_program::LINE_BYTES, write };
            (self.take)(line).map_err(|error| SimError::Lines { reason: error.to_string() })?;
        }
        Ok(())
    }
}
