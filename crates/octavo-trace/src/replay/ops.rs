//! From rows of a trace to operations of a wavefront.

use octavo_program::{InstructionMix, Op, OpSink};

use super::layout::Placement;
use crate::actions::{Named, Turn, unnamed};
use crate::lines::{lines_of_addresses, partial_of_addresses};
use crate::ranges::outside;
use crate::schema::CODE_LINES_END;
use crate::{Counts, Kind, Row, Touched};

/// Runs of lines in one memory instruction, at most: one for each lane, which always fits a sink. An instruction with
/// more is replayed as several.
const MAX_RUNS: usize = 64;
const _: () = assert!(MAX_RUNS < OpSink::MIN_CAPACITY);

/// Memory that rows need while they become operations.
#[derive(Default)]
pub(crate) struct Scratch {
    lines: Vec<u64>,
    partial: Vec<u64>,
    /// The allocation that the last line was in.
    hint: usize,
    /// The memory that the launch of the row may touch.
    turn: Turn,
}

/// Appends the operations that `row` means. Atomics are stores.
///
/// # Errors
/// It touches a line outside of all allocations, or of those that its launch names, or a line of code beyond what can
/// be numbered.
pub(crate) fn ops_of_row(
    row: &Row<'_>,
    placement: &Placement,
    named: &Named,
    scratch: &mut Scratch,
    ops: &mut Vec<Op>,
) -> Result<(), String> {
    instructions(row.counts, row.code_lines, ops)?;
    scratch.turn.enter(row.key.launch, named);
    match row.kind {
        Kind::Load => memory(row, placement, scratch, ops, Op::load),
        Kind::Store | Kind::Atomic => memory(row, placement, scratch, ops, Op::store),
        Kind::Scalar => memory(row, placement, scratch, ops, Op::scalar_load),
        Kind::Barrier => push(Op::BARRIER, ops),
        Kind::Wait if row.tells_order() => Ok(()),
        Kind::Wait => push(Op::wait_until(outstanding(row).into()), ops),
        Kind::End => push(Op::END, ops),
    }
}

fn push(op: Op, ops: &mut Vec<Op>) -> Result<(), String> {
    ops.push(op);
    Ok(())
}

/// The number that a wait leaves outstanding. The scalar counter also waits for vector memory (GCN's flat instructions
/// raise both), so the smaller of the two counts.
fn outstanding(row: &Row<'_>) -> u8 {
    row.vector_wait.unwrap_or(u8::MAX).min(row.scalar_wait.unwrap_or(u8::MAX))
}

/// Instructions without a separate row, spread evenly over the lines of code that are reached on the way.
#[inline]
pub(super) fn instructions(counts: Counts, code_lines: &[u64], ops: &mut Vec<Op>) -> Result<(), String> {
    let Counts { vector_alu, scalar_alu, local_data, branch } = counts;
    let all = InstructionMix { vector: vector_alu, scalar: scalar_alu, local_data, branch };
    match code_lines {
        [] => mixed(all, ops),
        [line] => {
            fetch(*line, ops)?;
            mixed(all, ops);
        }
        lines => spread(lines, all, ops)?,
    }
    Ok(())
}

fn spread(lines: &[u64], all: InstructionMix, ops: &mut Vec<Op>) -> Result<(), String> {
    let parts = lines.len() as u64;
    for (part, line) in (0..parts).zip(lines) {
        fetch(*line, ops)?;
        let share = |count: u32| (u64::from(count) * (part + 1) / parts - u64::from(count) * part / parts) as u32;
        let some = InstructionMix {
            vector: share(all.vector),
            scalar: share(all.scalar),
            local_data: share(all.local_data),
            branch: share(all.branch),
        };
        mixed(some, ops);
    }
    Ok(())
}

fn fetch(line: u64, ops: &mut Vec<Op>) -> Result<(), String> {
    if line >= CODE_LINES_END {
        return Err(format!("line {line} of the code, expected fewer than {CODE_LINES_END}"));
    }
    push(Op::fetch(line, 1), ops)
}

/// Instructions, as the number of operations that they need.
#[inline]
fn mixed(mut left: InstructionMix, ops: &mut Vec<Op>) {
    let most = Op::MAX_INSTRUCTIONS;
    while left.total() > 0 {
        let some = InstructionMix {
            vector: left.vector.min(most.vector),
            scalar: left.scalar.min(most.scalar),
            local_data: left.local_data.min(most.local_data),
            branch: left.branch.min(most.branch),
        };
        ops.push(Op::mixed(some));
        left.vector -= some.vector;
        left.scalar -= some.scalar;
        left.local_data -= some.local_data;
        left.branch -= some.branch;
    }
}

fn memory(
    row: &Row<'_>,
    placement: &Placement,
    scratch: &mut Scratch,
    ops: &mut Vec<Op>,
    make: fn(u64, u32) -> Op,
) -> Result<(), String> {
    let Scratch { lines: made, partial: found, hint, turn } = scratch;
    let (lines, mut partial) = match row.touched {
        Touched::Lines(lines) => (lines, row.partial),
        Touched::Addresses(addresses) => {
            made.clear();
            found.clear();
            lines_of_addresses(addresses, row.bytes, made);
            if row.kind.is_written() {
                partial_of_addresses(addresses, row.bytes, made, found);
            }
            (&made[..], &found[..])
        }
    };
    let mut runs = Runs { ops, make, first: 0, count: 0, partial: false, pushed: 0 };
    for (position, line) in (0..).zip(lines) {
        let is_partial = partial.first() == Some(&position);
        partial = &partial[usize::from(is_partial)..];
        match placement.line(*line, hint) {
            Some(_) if !turn.names(*hint) => return Err(unnamed(*line)),
            Some(line) => runs.touch(line, is_partial),
            None => return Err(outside(*line)),
        }
    }
    runs.finish();
    Ok(())
}

/// Consecutive lines of one instruction, all of them filled by it or none, as one operation each.
struct Runs<'a> {
    ops: &'a mut Vec<Op>,
    make: fn(u64, u32) -> Op,
    first: u64,
    count: u32,
    partial: bool,
    pushed: usize,
}

impl Runs<'_> {
    #[inline]
    fn touch(&mut self, line: u64, partial: bool) {
        let follows = line == self.first + u64::from(self.count) && partial == self.partial;
        if follows && self.count < Op::MAX_COUNT && self.count > 0 {
            self.count += 1;
            return;
        }
        if self.count > 0 {
            self.pushed += 1;
            let run = self.run();
            self.ops.push(if self.pushed.is_multiple_of(MAX_RUNS) { run } else { run.continued() });
        }
        (self.first, self.count, self.partial) = (line, 1, partial);
    }

    #[inline]
    fn run(&self) -> Op {
        let run = (self.make)(self.first, self.count);
        if self.partial { run.partial() } else { run }
    }

    fn finish(self) {
        if self.count > 0 {
            let run = self.run();
            self.ops.push(run);
        }
    }
}
