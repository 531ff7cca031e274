//! Traces: looked at, checked, written.

use std::path::{Path, PathBuf};

use octavo_manager::{Kind as MemoryKind, Spread};
use octavo_trace::{
    ActionKind, ActionRow, Allocation, Counts, Filter, Header, Key, Kind, LaunchRow, Memory, Row, Share, SweepRow,
    Touched, partial_together,
};
use pyo3::prelude::*;

use crate::errors::{self, TraceError};
use crate::generators::{forget_raised, or_raised};
use crate::scenario::load;

/// A trace in numbers, as JSON.
#[pyfunction]
pub fn trace_info(py: Python<'_>, path: &str) -> PyResult<String> {
    let info = py.detach(|| octavo_trace::info(Path::new(path))).map_err(|error| errors::trace(&error))?;
    Ok(serde_json::to_string(&info).expect("numbers can be written as JSON"))
}

/// Checks every rule of the format; returns how many rows there are.
#[pyfunction]
pub fn trace_validate(py: Python<'_>, path: &str) -> PyResult<u64> {
    py.detach(|| octavo_trace::validate(Path::new(path))).map_err(|error| errors::trace(&error))
}

/// The first `count` rows that match, as JSON.
#[pyfunction]
#[pyo3(signature = (path, count, launch=None, group=None, wavefront=None))]
pub fn trace_head(
    py: Python<'_>,
    path: &str,
    count: usize,
    launch: Option<u32>,
    group: Option<u32>,
    wavefront: Option<u16>,
) -> PyResult<String> {
    let filter = Filter { launch, group, wavefront };
    let rows = py.detach(|| octavo_trace::head(Path::new(path), filter, count));
    let rows = rows.map_err(|error| errors::trace(&error))?;
    Ok(serde_json::to_string(&rows).expect("rows can be written as JSON"))
}

/// Why a Parquet table, of a trace or any other, cannot be decoded, if it cannot.
#[pyfunction]
pub fn table_flaw(py: Python<'_>, path: PathBuf) -> Option<String> {
    let error = py.detach(|| octavo_trace::check_table(&path)).err()?;
    Some(error.row.map_or(error.reason.clone(), |row| format!("from row {row} on, {}", error.reason)))
}

/// Writes the workload of a resolved scenario as the trace folder `path`: the whole program, unless launches alone run.
#[pyfunction]
pub fn trace_record(py: Python<'_>, resolved: &str, path: &str, command: &str) -> PyResult<()> {
    forget_raised();
    or_raised(py.detach(|| {
        let parts = load(resolved)?.parts();
        let parts = parts.map_err(|error| errors::SimulationError::new_err(error.to_string()))?;
        let [part] = &parts[..] else {
            let reason = format!("a trace is of one program, found {}", parts.len());
            return Err(errors::SimulationError::new_err(reason));
        };
        let source = concat!("octavo ", env!("CARGO_PKG_VERSION"));
        octavo_trace::record(Path::new(path), part.workload.as_ref(), part.program.as_ref(), source, command)
            .map_err(|error| errors::trace(&error))
    }))
}

/// Name, first byte, bytes, GPU from 1 (0: none in particular).
type PyAllocation = (String, u64, u64, u8);
/// Kernel, grid, group, wavefronts per group, vector registers, scalar registers, local data bytes, bytes of code,
/// whether caches were flushed, split (GPU, first work-group, work-groups).
type PyLaunch = (String, [u32; 3], [u32; 3], u16, u16, u16, u32, u32, bool, Vec<(u8, u32, u32)>);

/// Kind, after, address, bytes, source, advice, launch, allocations, name, threads, sweeps.
type PyAction = (String, Vec<u32>, u64, u64, u64, PyAdvice, u32, Vec<u32>, String, u32, Vec<PySweep>);
/// Processor, accessed by, read mostly.
type PyAdvice = (u8, Vec<u8>, bool);
/// Address, bytes, writes, width, stride, thread.
type PySweep = (u64, u64, bool, u64, u64, u32);

/// Writes a trace chunk by chunk.
#[pyclass]
pub struct TraceWriter {
    writer: Option<octavo_trace::TraceWriter>,
}

#[pymethods]
impl TraceWriter {
    #[new]
    fn new(path: &str, lanes: u8, source: String, command: String, replace: bool) -> PyResult<Self> {
        let header = Header { lanes, source, command };
        let create = if replace { octavo_trace::TraceWriter::replace } else { octavo_trace::TraceWriter::create };
        let writer = create(Path::new(path), header).map_err(|error| errors::trace(&error))?;
        Ok(Self { writer: Some(writer) })
    }

    /// Appends rows, given as columns of little-endian numbers in one piece each.
    ///
    /// `columns` are launch, group, sequence, vector_alu, scalar_alu, local_data and branch (uint32), wavefront and
    /// bytes (uint16), kind (uint8, in the order of the format's table), lanes (uint8), vector_wait and scalar_wait
    /// (int16, negative for null); `values` are the lines, or the addresses, of all rows (uint64), and `ends` where
    /// those of each row end (uint64); `code` and `code_ends` are the same of the lines of code, `partial` and
    /// `partial_ends` of the positions of lines that stores do not fill, unless these are not known.
    #[expect(clippy::too_many_arguments, reason = "one for each piece of a chunk; called by our own Python alone")]
    fn push(
        &mut self,
        py: Python<'_>,
        columns: Vec<Vec<u8>>,
        values: Vec<u8>,
        ends: Vec<u8>,
        are_addresses: bool,
        code: Vec<u8>,
        code_ends: Vec<u8>,
        partial: Option<(Vec<u8>, Vec<u8>)>,
    ) -> PyResult<()> {
        let writer = self.writer.as_mut().ok_or_else(|| TraceError::new_err("the trace is finished"))?;
        py.detach(|| {
            let partial = partial.as_ref().map(|(values, ends)| [&values[..], &ends[..]]);
            let chunk = Chunk::new(&columns, [&values, &ends], are_addresses, [&code, &code_ends], partial)
                .ok_or_else(|| TraceError::new_err("columns differ in length"))?;
            (0..chunk.rows).try_for_each(|index| chunk.push(writer, index))
        })
    }

    /// Writes the tables, checks everything, and lets the folder appear.
    fn finish(&mut self, py: Python<'_>, allocations: Vec<PyAllocation>, launches: Vec<PyLaunch>) -> PyResult<()> {
        let writer = self.take()?;
        let (allocations, launches) = tables(allocations, launches);
        py.detach(|| writer.finish(&allocations, &launches)).map_err(|error| errors::trace(&error))
    }

    /// Like `finish`, with the whole program around the launches; `memories` holds kind and spread of each allocation.
    fn finish_program(
        &mut self,
        py: Python<'_>,
        allocations: Vec<PyAllocation>,
        memories: Vec<(String, String)>,
        launches: Vec<PyLaunch>,
        actions: Vec<PyAction>,
    ) -> PyResult<()> {
        let writer = self.take()?;
        let (allocations, launches) = tables(allocations, launches);
        let memories = memories.iter().map(memory).collect::<PyResult<Vec<Memory>>>()?;
        let actions = actions.into_iter().map(action).collect::<PyResult<Vec<ActionRow>>>()?;
        let finish = || writer.finish_program(&allocations, &memories, &launches, &actions);
        py.detach(finish).map_err(|error| errors::trace(&error))
    }

    /// Gives up; nothing is left behind.
    fn abandon(&mut self) {
        self.writer = None;
    }
}

impl TraceWriter {
    fn take(&mut self) -> PyResult<octavo_trace::TraceWriter> {
        self.writer.take().ok_or_else(|| TraceError::new_err("the trace is finished"))
    }
}

fn tables(allocations: Vec<PyAllocation>, launches: Vec<PyLaunch>) -> (Vec<Allocation>, Vec<LaunchRow>) {
    let allocation = |(name, base, bytes, gpu)| Allocation { name, base, bytes, gpu };
    (allocations.into_iter().map(allocation).collect(), launches.into_iter().map(launch).collect())
}

fn memory((kind, spread): &(String, String)) -> PyResult<Memory> {
    let found = MemoryKind::ALL.into_iter().find(|known| known.name() == kind);
    let kind = found.ok_or_else(|| unknown("kind of memory", kind, &MemoryKind::ALL.map(MemoryKind::name)))?;
    let found = Spread::ALL.into_iter().find(|known| known.name() == spread);
    let spread = found.ok_or_else(|| unknown("spread", spread, &Spread::ALL.map(Spread::name)))?;
    Ok(Memory { kind, spread })
}

fn action(row: PyAction) -> PyResult<ActionRow> {
    let (kind, after, address, bytes, source, advice, launch, allocations, name, threads, sweeps) = row;
    let (processor, accessed_by, read_mostly) = advice;
    let known = || unknown("kind of action", &kind, &ActionKind::ALL.map(ActionKind::name));
    let kind = ActionKind::named(&kind).ok_or_else(known)?;
    let sweep =
        |(address, bytes, writes, width, stride, thread)| SweepRow { address, bytes, writes, width, stride, thread };
    let sweeps = sweeps.into_iter().map(sweep).collect();
    Ok(ActionRow {
        kind,
        after,
        address,
        bytes,
        source,
        processor,
        accessed_by,
        read_mostly,
        launch,
        allocations,
        name,
        threads,
        sweeps,
    })
}

fn unknown(what: &str, found: &str, known: &[&str]) -> PyErr {
    TraceError::new_err(format!("unknown {what} `{found}`, expected one of {}", known.join(", ")))
}

fn launch((kernel, grid, group, wavefronts, vector, scalar, local, code, flushed, split): PyLaunch) -> LaunchRow {
    LaunchRow {
        kernel,
        grid,
        group,
        wavefronts_per_group: wavefronts,
        vector_registers: vector,
        scalar_registers: scalar,
        local_data_bytes: local,
        code_bytes: code,
        flushed,
        split: split.into_iter().map(|(gpu, first, groups)| Share { gpu, first, groups }).collect(),
    }
}

/// Columns of rows, all of the same length.
struct Chunk {
    rows: usize,
    words: [Vec<u32>; 7],
    halves: [Vec<u16>; 4],
    kind: Vec<u8>,
    lanes: Vec<u8>,
    touched: Lists,
    are_addresses: bool,
    code: Lists,
    /// Lines that stores do not fill, if it is known which.
    partial: Option<Lists>,
}

/// A list of numbers for each row.
struct Lists {
    values: Vec<u64>,
    ends: Vec<u64>,
}

impl Lists {
    fn new([values, ends]: [&[u8]; 2]) -> Self {
        Self { values: numbers(values, u64::from_le_bytes), ends: numbers(ends, u64::from_le_bytes) }
    }

    /// Whether there is a list for each of `rows`.
    fn fit(&self, rows: usize) -> bool {
        let last = self.ends.last().copied().unwrap_or(0);
        self.ends.len() == rows && self.ends.is_sorted() && last <= self.values.len() as u64
    }

    fn get(&self, index: usize) -> &[u64] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.values[start..self.ends[index] as usize]
    }
}

impl Chunk {
    fn new(
        columns: &[Vec<u8>],
        touched: [&[u8]; 2],
        are_addresses: bool,
        code: [&[u8]; 2],
        partial: Option<[&[u8]; 2]>,
    ) -> Option<Self> {
        let [
            launch,
            group,
            sequence,
            vector,
            scalar,
            local,
            branch,
            wavefront,
            bytes,
            kind,
            lanes,
            waits,
            scalar_waits,
        ] = columns
        else {
            return None;
        };
        let chunk = Self {
            rows: kind.len(),
            words: [launch, group, sequence, vector, scalar, local, branch]
                .map(|column| numbers(column, u32::from_le_bytes)),
            halves: [wavefront, bytes, waits, scalar_waits].map(|column| numbers(column, u16::from_le_bytes)),
            kind: kind.clone(),
            lanes: lanes.clone(),
            touched: Lists::new(touched),
            are_addresses,
            code: Lists::new(code),
            partial: partial.map(Lists::new),
        };
        let lengths = chunk.words.iter().map(Vec::len).chain(chunk.halves.iter().map(Vec::len));
        let whole = lengths.chain([chunk.lanes.len()]).all(|length| length == chunk.rows);
        let fit = [&chunk.touched, &chunk.code].into_iter().chain(&chunk.partial).all(|list| list.fit(chunk.rows));
        (whole && fit).then_some(chunk)
    }

    fn push(&self, writer: &mut octavo_trace::TraceWriter, index: usize) -> PyResult<()> {
        let kind = *Kind::ALL
            .get(usize::from(self.kind[index]))
            .ok_or_else(|| TraceError::new_err(format!("unknown code {} of a kind", self.kind[index])))?;
        let [launch, group, sequence, vector_alu, scalar_alu, local_data, branch] =
            self.words.each_ref().map(|column| column[index]);
        let [wavefront, bytes, vector_wait, scalar_wait] = self.halves.each_ref().map(|column| column[index]);
        let values = self.touched.get(index);
        let mut together = Vec::new();
        let partial = match &self.partial {
            Some(partial) => partial.get(index),
            None if kind.is_written() && !self.are_addresses => {
                partial_together(u64::from(bytes) * u64::from(self.lanes[index]), values.len(), &mut together);
                &together
            }
            None => &[],
        };
        let row = Row {
            key: Key { launch, group, wavefront, sequence },
            kind,
            code_lines: self.code.get(index),
            bytes,
            lanes: self.lanes[index],
            touched: if self.are_addresses { Touched::Addresses(values) } else { Touched::Lines(values) },
            partial,
            counts: Counts { vector_alu, scalar_alu, local_data, branch },
            // Null is stored as a negative number, which no byte is.
            vector_wait: u8::try_from(vector_wait).ok(),
            scalar_wait: u8::try_from(scalar_wait).ok(),
        };
        writer.push(row).map_err(|error| errors::trace(&error))
    }
}

fn numbers<T, const N: usize>(bytes: &[u8], number: fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|bytes| number(*bytes)).collect()
}
