//! From rows to a program.

use std::sync::Arc;

use octavo_manager::{Access, Advice, MAX_GPUS, MAX_PROCESSORS, ProcessorId, ProcessorMask};
use octavo_program::{
    Action, ActionId, Buffer, BufferId, HostPhase, Ordered, Program, ProgramBuffer, ProgramError, Span, Sweep, Threads,
};

use super::launches::{Broken, check_launches};
use super::row::{ActionKind, ActionRow, Memory, NOBODY, SweepRow};
use super::rows::row_of;
use crate::Allocation;

/// Bytes from one access of the host to the next, at most: far more than a page of any size.
const MAX_STRIDE: u64 = 1 << 32;

/// The program of rows over `allocations`, which ascend and do not overlap, each with its kind and spread.
///
/// # Errors
/// A row that means nothing, or a program that cannot be.
pub(crate) fn program_of(
    allocations: &[Allocation],
    memories: &[Memory],
    rows: &[ActionRow],
    launches: u32,
) -> Result<Program, Broken> {
    let buffers: Vec<ProgramBuffer> = allocations.iter().zip(memories).map(buffer).collect();
    let mut meaning = Meaning { allocations, used: Arc::new([]) };
    let mut actions = Vec::with_capacity(rows.len());
    for (index, row) in rows.iter().enumerate() {
        let wrong = |reason| Broken { row: Some(index), reason };
        let after = row.after.iter().copied().map(ActionId).collect();
        let ordered = Ordered { action: meaning.action(row).map_err(wrong)?, after };
        let known = match &ordered.action {
            Action::Launch { buffers: used, .. } => used.iter().all(|id| id.index() < buffers.len()),
            _ => true,
        };
        if known && row_of(&ordered, &buffers) != *row {
            return Err(wrong(format!("a `{}` with columns that do not belong to it", row.kind.name())));
        }
        actions.push(ordered);
    }
    let program = Program::new(buffers, actions, launches).map_err(|error| broken(&error))?;
    check_launches(&program, launches)?;
    Ok(program)
}

fn buffer((found, memory): (&Allocation, &Memory)) -> ProgramBuffer {
    let Allocation { name, base, bytes, gpu } = found.clone();
    ProgramBuffer { buffer: Buffer { name, base, bytes, gpu }, kind: memory.kind, spread: memory.spread }
}

fn broken(error: &ProgramError) -> Broken {
    let (row, reason) = match error {
        ProgramError::Action { action, fault, .. } => (Some(*action), fault.to_string()),
        ProgramError::Circle { action, .. } => (Some(*action), error.to_string()),
        ProgramError::Overlap { .. } => (None, error.to_string()),
    };
    Broken { row, reason }
}

struct Meaning<'a> {
    allocations: &'a [Allocation],
    /// Buffers of the last launch: most launches name the same ones.
    used: Arc<[BufferId]>,
}

impl Meaning<'_> {
    fn action(&mut self, row: &ActionRow) -> Result<Action, String> {
        let span = || self.span(row.address, row.bytes);
        Ok(match row.kind {
            ActionKind::Allocate => Action::Allocate(self.whole(row)?),
            ActionKind::Free => Action::Free(self.whole(row)?),
            ActionKind::Host => Action::Host(self.phase(row)?),
            ActionKind::Copy => Action::Copy { from: self.span(row.source, row.bytes)?, to: span()? },
            ActionKind::Prefetch => Action::Prefetch { span: span()?, to: processor(row.processor)? },
            ActionKind::Discard => Action::Discard(span()?),
            ActionKind::Advise => Action::Advise { span: span()?, advice: advice(row)? },
            ActionKind::Launch => Action::Launch { launch: row.launch, buffers: self.used(row) },
            ActionKind::Synchronise => Action::Synchronise,
        })
    }

    /// The allocation that `row` is about as a whole.
    fn whole(&self, row: &ActionRow) -> Result<BufferId, String> {
        let found = self.span(row.address, row.bytes)?;
        let Allocation { name, base, bytes, .. } = &self.allocations[found.buffer.index()];
        if (row.address, row.bytes) == (*base, *bytes) {
            return Ok(found.buffer);
        }
        let kind = row.kind.name();
        Err(format!("a `{kind}` of {} bytes at {}, expected all {bytes} of `{name}` at {base}", row.bytes, row.address))
    }

    fn span(&self, address: u64, bytes: u64) -> Result<Span, String> {
        let after = self.allocations.partition_point(|found| found.base <= address);
        let found = after.checked_sub(1).map(|index| (index, address - self.allocations[index].base));
        let Some((index, start)) = found.filter(|(index, start)| *start < self.allocations[*index].bytes) else {
            return Err(format!("address {address} is in no allocation"));
        };
        let Allocation { name, bytes: size, .. } = &self.allocations[index];
        match start.checked_add(bytes).filter(|end| end <= size) {
            Some(end) => Ok(Span { buffer: BufferId(index as u32), bytes: start..end }),
            None => Err(format!("{bytes} bytes at address {address} reach beyond the end of `{name}`")),
        }
    }

    fn used(&mut self, row: &ActionRow) -> Arc<[BufferId]> {
        if !self.used.iter().map(|id| id.0).eq(row.allocations.iter().copied()) {
            self.used = row.allocations.iter().copied().map(BufferId).collect();
        }
        Arc::clone(&self.used)
    }

    fn phase(&self, row: &ActionRow) -> Result<HostPhase, String> {
        let sweeps = row.sweeps.iter().map(|sweep| self.sweep(sweep)).collect::<Result<_, _>>()?;
        Ok(HostPhase { name: row.name.clone().into(), threads: row.threads, sweeps })
    }

    fn sweep(&self, row: &SweepRow) -> Result<Sweep, String> {
        if row.stride > MAX_STRIDE {
            return Err(format!("accesses every {} bytes, expected at most {MAX_STRIDE}", row.stride));
        }
        Ok(Sweep {
            span: self.span(row.address, row.bytes)?,
            access: if row.writes { Access::Write } else { Access::Read },
            width: row.width,
            stride: row.stride,
            by: row.thread.checked_sub(1).map_or(Threads::Shared, Threads::One),
        })
    }
}

fn advice(row: &ActionRow) -> Result<Advice, String> {
    let preferred = (row.processor != NOBODY).then(|| processor(row.processor)).transpose()?;
    let preferred = preferred.map(ProcessorId::memory);
    let named = row.accessed_by.iter().try_fold(ProcessorMask::EMPTY, |named, one| Ok(named.with(processor(*one)?)));
    named.map(|accessed_by| Advice { preferred, accessed_by, read_mostly: row.read_mostly })
}

fn processor(number: u8) -> Result<ProcessorId, String> {
    if usize::from(number) < MAX_PROCESSORS {
        return Ok(ProcessorId(number));
    }
    Err(format!("processor {number}, expected 0 (the host) or a GPU from 1 to {}", MAX_GPUS))
}
