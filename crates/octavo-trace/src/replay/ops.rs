//! From rows of a trace to operations of a wavefront.

use octavo_workload::{Op, OpSink};

use super::layout::Placement;
use crate::lines::lines_of_addresses;
use crate::ranges::outside;
use crate::{Kind, Row, Touched};

/// Runs of lines in one memory instruction, at most: one for each lane, which always fits a sink. What has more is
/// replayed as several instructions.
const MAX_RUNS: usize = 64;
const _: () = assert!(MAX_RUNS < OpSink::MIN_CAPACITY);

/// Memory that rows need while they become operations.
#[derive(Default)]
pub(crate) struct Scratch {
    lines: Vec<u64>,
    /// The allocation that the last line was in.
    hint: usize,
}

/// Appends the operations that `row` means.
///
/// Atomics are stores; scalar loads, and waits for nothing else, are left out; of instructions without a row only
/// those of the vector ALU take time.
///
/// # Errors
/// It touches a line outside of all allocations.
pub(crate) fn ops_of_row(
    row: &Row<'_>,
    placement: &Placement,
    scratch: &mut Scratch,
    ops: &mut Vec<Op>,
) -> Result<(), String> {
    compute(row.counts.vector_alu, ops);
    match row.kind {
        Kind::Load => memory(row, placement, scratch, ops, Op::load),
        Kind::Store | Kind::Atomic => memory(row, placement, scratch, ops, Op::store),
        Kind::Scalar => Ok(()),
        Kind::Barrier => push(Op::BARRIER, ops),
        Kind::Wait if row.vector_wait.is_some() => push(Op::WAIT, ops),
        Kind::Wait => Ok(()),
        Kind::End => push(Op::END, ops),
    }
}

fn push(op: Op, ops: &mut Vec<Op>) -> Result<(), String> {
    ops.push(op);
    Ok(())
}

fn compute(mut instructions: u32, ops: &mut Vec<Op>) {
    while instructions > 0 {
        let some = instructions.min(Op::MAX_COUNT);
        ops.push(Op::compute(some));
        instructions -= some;
    }
}

fn memory(
    row: &Row<'_>,
    placement: &Placement,
    scratch: &mut Scratch,
    ops: &mut Vec<Op>,
    make: fn(u64, u32) -> Op,
) -> Result<(), String> {
    let lines = match row.touched {
        Touched::Lines(lines) => lines,
        Touched::Addresses(addresses) => {
            scratch.lines.clear();
            lines_of_addresses(addresses, row.bytes, &mut scratch.lines);
            &scratch.lines
        }
    };
    let mut runs = Runs { ops, make, first: 0, count: 0, pushed: 0 };
    for line in lines {
        match placement.line(*line, &mut scratch.hint) {
            Some(line) => runs.touch(line),
            None => return Err(outside(*line)),
        }
    }
    runs.finish();
    Ok(())
}

/// Consecutive lines of one instruction as one operation each.
struct Runs<'a> {
    ops: &'a mut Vec<Op>,
    make: fn(u64, u32) -> Op,
    first: u64,
    count: u32,
    pushed: usize,
}

impl Runs<'_> {
    #[inline]
    fn touch(&mut self, line: u64) {
        if line == self.first + u64::from(self.count) && self.count < Op::MAX_COUNT && self.count > 0 {
            self.count += 1;
            return;
        }
        if self.count > 0 {
            self.pushed += 1;
            let run = (self.make)(self.first, self.count);
            self.ops.push(if self.pushed.is_multiple_of(MAX_RUNS) { run } else { run.continued() });
        }
        (self.first, self.count) = (line, 1);
    }

    fn finish(self) {
        if self.count > 0 {
            self.ops.push((self.make)(self.first, self.count));
        }
    }
}
