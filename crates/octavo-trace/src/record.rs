//! A workload written as a trace: the operations of its wavefronts, and the whole program around its launches.

use std::path::Path;

use octavo_program::{Buffer, Cursor, LINE_BYTES, Launch, Op, OpKind, OpSink, Program, Workload};

use crate::{Allocation, Counts, Header, Key, Kind, LaunchRow, Row, Touched, TraceError, TraceWriter};

/// Lanes of a wavefront of every workload.
const LANES: u8 = 64;
/// Operations produced at a time.
const CHUNK: usize = 1024;

/// Writes `workload` as the trace folder `path`, with `program` around its launches if there is one: version 2 of the
/// format, otherwise 1. A replay of it does the same, operation by operation.
///
/// Facts that a workload does not know get plain values: all lanes are active, grids have one dimension, and lanes move
/// as few bytes as their lines allow.
///
/// # Errors
/// As for [`TraceWriter::create`], [`TraceWriter::push`] and [`TraceWriter::finish`], or the workload
/// [fails](Workload::failure).
pub fn record(
    path: &Path,
    workload: &dyn Workload,
    program: Option<&Program>,
    source: &str,
    command: &str,
) -> Result<(), TraceError> {
    let header = Header { lanes: LANES, source: source.to_owned(), command: command.to_owned() };
    let mut writer = TraceWriter::create(path, header)?;
    let mut launches = Vec::new();
    for launch in 0..workload.launches() {
        let shape = workload.launch(launch);
        for group in 0..shape.work_groups {
            for wavefront in 0..shape.wavefronts_per_group {
                let key = Key { launch, group, wavefront: wavefront as u16, sequence: 0 };
                write_wavefront(&mut writer, workload, key)?;
            }
        }
        launches.push(launch_row(path, workload, launch, shape)?);
    }
    if let Some(reason) = workload.failure() {
        return Err(TraceError::new(path, reason));
    }
    match program {
        Some(program) => writer.finish_whole(program, &launches),
        None => writer.finish(&allocations(workload.buffers()), &launches),
    }
}

fn allocations(buffers: &[Buffer]) -> Vec<Allocation> {
    let allocation = |Buffer { name, base, bytes, gpu }| Allocation { name, base, bytes, gpu };
    buffers.iter().cloned().map(allocation).collect()
}

fn launch_row(path: &Path, workload: &dyn Workload, index: u32, shape: Launch) -> Result<LaunchRow, TraceError> {
    let items = shape.wavefronts_per_group * u32::from(LANES);
    let grid = shape.work_groups.checked_mul(items).ok_or_else(|| {
        let reason =
            format!("launch {index} has {} groups of {items} work-items, too many for a grid", shape.work_groups);
        TraceError::new(path, reason)
    })?;
    let resources = workload.resources(index);
    Ok(LaunchRow {
        kernel: shape.kernel.into_owned(),
        grid: [grid, 1, 1],
        group: [items, 1, 1],
        wavefronts_per_group: shape.wavefronts_per_group as u16,
        vector_registers: resources.vector_registers as u16,
        scalar_registers: resources.scalar_registers as u16,
        local_data_bytes: resources.local_data_bytes,
        code_bytes: workload.code_bytes(index) as u32,
        flushed: workload.flushed_before(index),
        split: Vec::new(),
    })
}

fn write_wavefront(writer: &mut TraceWriter, workload: &dyn Workload, key: Key) -> Result<(), TraceError> {
    let (mut cursor, mut chunk) = (Cursor::default(), vec![Op::END; CHUNK]);
    let mut next = Next { key, ..Next::default() };
    loop {
        let mut sink = OpSink::new(&mut chunk);
        workload.fill(key.launch, key.group, key.wavefront.into(), &mut cursor, &mut sink);
        for op in sink.as_slice() {
            next.take(*op, writer)?;
        }
        if sink.as_slice().last() == Some(&Op::END) {
            return Ok(());
        }
    }
}

/// The row under construction.
#[derive(Default)]
struct Next {
    key: Key,
    counts: Counts,
    code_lines: Vec<u64>,
    lines: Vec<u64>,
    partial: Vec<u64>,
}

impl Next {
    fn take(&mut self, op: Op, writer: &mut TraceWriter) -> Result<(), TraceError> {
        let kind = match op.kind() {
            OpKind::Compute => {
                let mix = op.instructions();
                self.counts.vector_alu += mix.vector;
                self.counts.scalar_alu += mix.scalar;
                self.counts.local_data += mix.local_data;
                self.counts.branch += mix.branch;
                return Ok(());
            }
            OpKind::Fetch => {
                self.code_lines.extend(op.line()..op.line() + u64::from(op.count()));
                return Ok(());
            }
            OpKind::Load => Kind::Load,
            OpKind::Store => Kind::Store,
            OpKind::ScalarLoad => Kind::Scalar,
            OpKind::Barrier => Kind::Barrier,
            OpKind::Wait => Kind::Wait,
            OpKind::End => Kind::End,
        };
        if kind.is_memory() {
            self.touch(op);
            if op.continues() {
                return Ok(());
            }
        }
        self.write(kind, op, writer)
    }

    fn touch(&mut self, op: Op) {
        for run in op.uniform() {
            let first = self.lines.len() as u64;
            self.lines.extend(run.line()..run.line() + u64::from(run.count()));
            if run.is_store() && run.is_partial() {
                self.partial.extend(first..self.lines.len() as u64);
            }
        }
    }

    fn write(&mut self, kind: Kind, op: Op, writer: &mut TraceWriter) -> Result<(), TraceError> {
        let lines = self.lines.len() as u64;
        // The fewest bytes with which this many lines can be touched.
        let bytes = match kind {
            Kind::Scalar => lines * LINE_BYTES,
            kind if kind.is_vector() => lines.div_ceil(u64::from(LANES)).saturating_sub(1).max(1) * LINE_BYTES,
            _ => 0,
        };
        let outstanding = (kind == Kind::Wait).then(|| op.count().min(u8::MAX.into()) as u8);
        writer.push(Row {
            key: self.key,
            kind,
            code_lines: &self.code_lines,
            bytes: u16::try_from(bytes).unwrap_or(u16::MAX),
            lanes: if kind.is_vector() { LANES } else { 0 },
            touched: Touched::Lines(&self.lines),
            partial: &self.partial,
            counts: self.counts,
            vector_wait: outstanding,
            scalar_wait: None,
        })?;
        let key = Key { sequence: self.key.sequence + 1, ..self.key };
        self.code_lines.clear();
        self.lines.clear();
        self.partial.clear();
        (self.key, self.counts) = (key, Counts::default());
        Ok(())
    }
}
