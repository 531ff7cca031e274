//! From a program to rows.

use octavo_manager::{Access, Advice, MAX_PROCESSORS, ProcessorId};
use octavo_program::{Action, HostPhase, Ordered, Program, ProgramBuffer, Span, Sweep, Threads};

use super::row::{ActionKind, ActionRow, NOBODY, SweepRow};

/// The rows of a program's actions.
pub(crate) fn rows_of(program: &Program) -> Vec<ActionRow> {
    program.actions().iter().map(|ordered| row_of(ordered, program.buffers())).collect()
}

/// The row of an action over `buffers`.
pub(super) fn row_of(ordered: &Ordered, buffers: &[ProgramBuffer]) -> ActionRow {
    let address = |span: &Span| buffers[span.buffer.index()].buffer.base + span.bytes.start;
    let over =
        |kind, span: &Span| ActionRow { kind, address: address(span), bytes: span.len(), ..ActionRow::default() };
    let whole = |kind, id: octavo_program::BufferId| {
        let buffer = &buffers[id.index()].buffer;
        ActionRow { kind, address: buffer.base, bytes: buffer.bytes, ..ActionRow::default() }
    };
    let row = match &ordered.action {
        Action::Allocate(id) => whole(ActionKind::Allocate, *id),
        Action::Free(id) => whole(ActionKind::Free, *id),
        Action::Host(phase) => of_phase(phase, address),
        Action::Copy { from, to } => ActionRow { source: address(from), ..over(ActionKind::Copy, to) },
        Action::Prefetch { span, to } => ActionRow { processor: to.0, ..over(ActionKind::Prefetch, span) },
        Action::Discard(span) => over(ActionKind::Discard, span),
        Action::Advise { span, advice } => of_advice(over(ActionKind::Advise, span), *advice),
        Action::Launch { launch, buffers } => ActionRow {
            kind: ActionKind::Launch,
            launch: *launch,
            allocations: buffers.iter().map(|id| id.0).collect(),
            ..ActionRow::default()
        },
        Action::Synchronise => ActionRow::default(),
    };
    ActionRow { after: ordered.after.iter().map(|before| before.0).collect(), ..row }
}

fn of_phase(phase: &HostPhase, address: impl Fn(&Span) -> u64) -> ActionRow {
    let sweep = |sweep: &Sweep| SweepRow {
        address: address(&sweep.span),
        bytes: sweep.span.len(),
        writes: sweep.access == Access::Write,
        width: sweep.width,
        stride: sweep.stride,
        thread: match sweep.by {
            Threads::Shared => 0,
            Threads::One(number) => number.saturating_add(1),
        },
    };
    ActionRow {
        kind: ActionKind::Host,
        name: phase.name.clone().into_owned(),
        threads: phase.threads,
        sweeps: phase.sweeps.iter().map(sweep).collect(),
        ..ActionRow::default()
    }
}

fn of_advice(row: ActionRow, advice: Advice) -> ActionRow {
    let named = (0..MAX_PROCESSORS as u8).filter(|index| advice.accessed_by.contains(ProcessorId(*index)));
    ActionRow {
        processor: advice.preferred.map_or(NOBODY, |preferred| preferred.0),
        accessed_by: named.collect(),
        read_mostly: advice.read_mostly,
        ..row
    }
}
