//! Lines from memory as a program of one thread on the host.

use octavo_manager::{Kind, Spread};

use super::cache::MemoryTraffic;
use crate::convert::ConvertError;
use crate::convert::footprint::Footprint;
use crate::{ActionKind, ActionRow, Allocation, Memory, SweepRow, TraceError, TraceWriter};

const LINE_BYTES: u64 = 64;
/// Sweeps of a phase of the host: a row of the table of actions stays small.
const SWEEPS: usize = 1 << 16;
/// Sweeps of all phases, at most: a few hundred megabytes.
const MOST_SWEEPS: usize = 1 << 22;

/// Why there is no program.
pub(super) enum Refused {
    Input(String),
    Output(TraceError),
}

impl Refused {
    /// The error, in which `refused` names the input.
    pub fn in_file(self, refused: impl FnOnce(String) -> ConvertError) -> ConvertError {
        match self {
            Self::Input(reason) => refused(reason),
            Self::Output(error) => error.into(),
        }
    }
}

/// Writes the trace; returns the number of its allocations.
pub(super) fn write(writer: TraceWriter, traffic: &MemoryTraffic) -> Result<u64, Refused> {
    let mut footprint = Footprint::new(Vec::new());
    for (line, _) in traffic.iter() {
        footprint.touch(&[line]).map_err(Refused::Input)?;
    }
    let allocations = footprint.allocations();
    let memories = vec![Memory { kind: Kind::System, spread: Spread::Interleaved }; allocations.len()];
    let actions = actions(&allocations, sweeps(traffic)?);
    writer.finish_program(&allocations, &memories, &[], &actions).map_err(Refused::Output)?;
    Ok(allocations.len() as u64)
}

/// Lines that follow one another are one sweep.
fn sweeps(traffic: &MemoryTraffic) -> Result<Vec<SweepRow>, Refused> {
    let mut sweeps: Vec<SweepRow> = Vec::new();
    for (line, writes) in traffic.iter() {
        let address = line * LINE_BYTES;
        if let Some(last) = sweeps.last_mut()
            && last.address + last.bytes == address
            && last.writes == writes
        {
            last.bytes += LINE_BYTES;
            continue;
        }
        if sweeps.len() == MOST_SWEEPS {
            let reason = format!("lines from memory jump more than {MOST_SWEEPS} times; trace a shorter part");
            return Err(Refused::Input(reason));
        }
        let (bytes, width, stride) = (LINE_BYTES, LINE_BYTES, LINE_BYTES);
        sweeps.push(SweepRow { address, bytes, writes, width, stride, thread: 0 });
    }
    Ok(sweeps)
}

/// All memory is allocated, then touched, each action after the one before.
fn actions(allocations: &[Allocation], sweeps: Vec<SweepRow>) -> Vec<ActionRow> {
    let allocate = |found: &Allocation| {
        let (kind, address, bytes) = (ActionKind::Allocate, found.base, found.bytes);
        ActionRow { kind, address, bytes, ..ActionRow::default() }
    };
    let phase = |sweeps: &[SweepRow]| {
        let (kind, name, threads) = (ActionKind::Host, "accesses".to_owned(), 1);
        ActionRow { kind, name, threads, sweeps: sweeps.to_vec(), ..ActionRow::default() }
    };
    let mut rows: Vec<_> = allocations.iter().map(allocate).chain(sweeps.chunks(SWEEPS).map(phase)).collect();
    for (number, row) in rows.iter_mut().enumerate().skip(1) {
        row.after = vec![number as u32 - 1];
    }
    rows
}
