//! A trace in numbers.

use std::collections::BTreeMap;
use std::path::Path;

use octavo_program::Program;
use serde::Serialize;

use crate::lines::lines_of_addresses;
use crate::ranges::{Ranges, outside};
use crate::{Kind, Row, Touched, TraceError, TraceReader};

/// Lines of all allocations, at most, for those that are touched to be counted: a bit each, 512 MiB of them.
const MAX_COUNTED_LINES: u64 = 1 << 32;

/// A trace in numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Info {
    /// Version of the format.
    pub version: &'static str,
    /// What recorded it.
    pub source: String,
    /// The command that recorded it.
    pub command: String,
    /// Lanes of a wavefront.
    pub lanes: u8,
    /// Size of all files.
    pub file_bytes: u64,
    /// Rows of instructions.
    pub rows: u64,
    /// Row groups they are in.
    pub row_groups: u64,
    /// Kernel launches.
    pub launches: u64,
    /// GPUs that the launches were split over; 0 when not recorded.
    pub gpus: u8,
    /// Allocations.
    pub allocations: u64,
    /// Sum of their sizes.
    pub footprint_bytes: u64,
    /// Bytes of all lines touched; absent for traces that allocate more than 256 GiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub touched_bytes: Option<u64>,
    /// The program around the launches, where it was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<ProgramInfo>,
    /// All launches together.
    pub total: KernelInfo,
    /// Launches of each kernel together, by name.
    pub kernels: BTreeMap<String, KernelInfo>,
}

/// A whole program in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProgramInfo {
    /// Actions of each kind.
    pub actions: BTreeMap<&'static str, u64>,
    /// Bytes allocated of each kind of memory.
    pub bytes: BTreeMap<&'static str, u64>,
}

impl ProgramInfo {
    fn new(program: &Program) -> Self {
        let mut info = Self::default();
        for ordered in program.actions() {
            *info.actions.entry(ordered.action.name()).or_default() += 1;
        }
        for buffer in program.buffers() {
            let bytes = info.bytes.entry(buffer.kind.name()).or_default();
            *bytes = bytes.saturating_add(buffer.buffer.bytes);
        }
        info
    }
}

/// Launches in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KernelInfo {
    /// Launches.
    pub launches: u64,
    /// Work-groups.
    pub work_groups: u64,
    /// Wavefronts.
    pub wavefronts: u64,
    /// All instructions, with or without separate rows; ends are not counted.
    pub instructions: u64,
    /// Vector-ALU instructions.
    pub vector_alu: u64,
    /// Scalar-ALU and other instructions.
    pub scalar_alu: u64,
    /// Local-data-share instructions.
    pub local_data: u64,
    /// Branches.
    pub branch: u64,
    /// Rows of each kind.
    pub kinds: BTreeMap<&'static str, u64>,
    /// Lines of code that wavefronts reached for the first time.
    pub code_lines: u64,
    /// Line transactions of vector loads.
    pub load_lines: u64,
    /// Line transactions of vector stores.
    pub store_lines: u64,
    /// Line transactions of vector atomics.
    pub atomic_lines: u64,
    /// Line transactions of scalar loads.
    pub scalar_lines: u64,
}

impl KernelInfo {
    fn take(&mut self, row: &Row<'_>, lines: usize) {
        let counts = row.counts;
        self.vector_alu += u64::from(counts.vector_alu);
        self.scalar_alu += u64::from(counts.scalar_alu);
        self.local_data += u64::from(counts.local_data);
        self.branch += u64::from(counts.branch);
        self.code_lines += row.code_lines.len() as u64;
        self.instructions += counts.total() + u64::from(row.kind != Kind::End && !row.tells_order());
        *self.kinds.entry(row.kind.name()).or_default() += 1;
        let lines = lines as u64;
        match row.kind {
            Kind::Load => self.load_lines += lines,
            Kind::Store => self.store_lines += lines,
            Kind::Atomic => self.atomic_lines += lines,
            Kind::Scalar => self.scalar_lines += lines,
            Kind::Barrier | Kind::Wait | Kind::End => {}
        }
    }

    fn add(&mut self, other: &Self) {
        self.launches += other.launches;
        self.work_groups += other.work_groups;
        self.wavefronts += other.wavefronts;
        self.instructions += other.instructions;
        self.vector_alu += other.vector_alu;
        self.scalar_alu += other.scalar_alu;
        self.local_data += other.local_data;
        self.branch += other.branch;
        self.code_lines += other.code_lines;
        self.load_lines += other.load_lines;
        self.store_lines += other.store_lines;
        self.atomic_lines += other.atomic_lines;
        self.scalar_lines += other.scalar_lines;
        for (kind, count) in &other.kinds {
            *self.kinds.entry(kind).or_default() += count;
        }
    }
}

/// Reads the whole trace `path` and counts.
///
/// # Errors
/// It cannot be read; see [`validate`](crate::validate) for what is not checked here.
pub fn info(path: &Path) -> Result<Info, TraceError> {
    let reader = TraceReader::open(path)?;
    let mut launches: Vec<KernelInfo> = reader.launches().iter().map(launched).collect();
    let mut touched = Lines::new(&reader);
    let mut scratch = Vec::new();
    for group in 0..reader.row_groups() {
        for (index, row) in reader.rows(group)?.iter().enumerate() {
            let wrong =
                |reason| TraceError::at(reader.instructions_path(), reader.first_row(group) + index as u64, reason);
            let lines = match row.touched {
                Touched::Lines(lines) => lines,
                Touched::Addresses(addresses) => {
                    scratch.clear();
                    lines_of_addresses(addresses, row.bytes, &mut scratch);
                    &scratch
                }
            };
            lines.iter().try_for_each(|line| touched.add(*line)).map_err(wrong)?;
            let launch = launches.get_mut(row.key.launch as usize);
            launch.ok_or_else(|| wrong(format!("there is no launch {}", row.key.launch)))?.take(&row, lines.len());
        }
    }
    Ok(summary(&reader, &launches, touched.bytes()))
}

fn launched(launch: &crate::LaunchRow) -> KernelInfo {
    let work_groups = u64::from(launch.work_groups().unwrap_or(0));
    let wavefronts = work_groups * u64::from(launch.wavefronts_per_group);
    KernelInfo { launches: 1, work_groups, wavefronts, ..KernelInfo::default() }
}

fn summary(reader: &TraceReader, launches: &[KernelInfo], touched_bytes: Option<u64>) -> Info {
    let mut kernels: BTreeMap<String, KernelInfo> = BTreeMap::new();
    let mut total = KernelInfo::default();
    for (launch, counted) in reader.launches().iter().zip(launches) {
        kernels.entry(launch.kernel.clone()).or_default().add(counted);
        total.add(counted);
    }
    let header = reader.header();
    let size = |name: &&str| std::fs::metadata(reader.path().join(name)).map_or(0, |found| found.len());
    Info {
        version: reader.version().name(),
        source: header.source.clone(),
        command: header.command.clone(),
        lanes: header.lanes,
        file_bytes: reader.version().files().iter().map(size).sum(),
        rows: reader.row_count(),
        row_groups: reader.row_groups() as u64,
        launches: launches.len() as u64,
        gpus: reader.launches().iter().flat_map(|launch| &launch.split).map(|share| share.gpu).max().unwrap_or(0),
        allocations: reader.allocations().len() as u64,
        footprint_bytes: reader.allocations().iter().fold(0, |sum, next| next.bytes.saturating_add(sum)),
        touched_bytes,
        program: reader.program().map(ProgramInfo::new),
        total,
        kernels,
    }
}

/// Which lines of allocations were touched.
struct Lines {
    ranges: Ranges,
    hint: usize,
    /// The position of each allocation's lines among the bits.
    starts: Vec<u64>,
    bits: Option<Vec<u64>>,
}

impl Lines {
    fn new(reader: &TraceReader) -> Self {
        let ranges = Ranges::new(reader.allocations());
        let mut all = 0u64;
        let mut start = |length| {
            let start = all;
            all = all.saturating_add(length);
            start
        };
        let starts = ranges.lengths().map(&mut start).collect();
        let bits = (all <= MAX_COUNTED_LINES).then(|| vec![0; all.div_ceil(64) as usize]);
        Self { ranges, hint: 0, starts, bits }
    }

    fn add(&mut self, line: u64) -> Result<(), String> {
        let allocation = self.ranges.find(line, &mut self.hint).ok_or_else(|| outside(line))?;
        if let Some(bits) = &mut self.bits {
            let bit = self.starts[allocation] + (line - self.ranges.first(allocation));
            bits[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        Ok(())
    }

    fn bytes(&self) -> Option<u64> {
        Some(self.bits.as_ref()?.iter().map(|word| u64::from(word.count_ones())).sum::<u64>() * 64)
    }
}
