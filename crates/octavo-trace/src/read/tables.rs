//! `allocations.parquet` and `launches.parquet`, which are small, and the metadata of all files.

use std::collections::HashSet;
use std::path::Path;

use octavo_manager::{Kind, Spread};
use octavo_program::LINE_BYTES;
use parquet::data_type::ByteArray;

use super::column::{Column, Holds};
use super::footer::ParquetFile;
use crate::schema::{KEY_COMMAND, KEY_LANES, KEY_SOURCE, KEY_VERSION, MAX_NAME_BYTES, MAX_TABLE_ROWS, too_many_rows};
use crate::{Allocation, Header, LaunchRow, Memory, Share, TraceError, Version};

/// The metadata of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Metadata {
    pub header: Header,
    pub version: Version,
}

pub(super) fn metadata(file: &ParquetFile) -> Result<Metadata, TraceError> {
    let wrong = |reason: String| TraceError::new(file.path(), reason);
    let version = file
        .value(KEY_VERSION)
        .ok_or_else(|| wrong(format!("is no Octavo trace: its metadata lacks `{KEY_VERSION}`")))?;
    let Some(version) = Version::ALL.into_iter().find(|known| known.name() == version) else {
        let known = Version::ALL.map(|known| format!("`{}`", known.name())).join(" and ");
        return Err(wrong(format!("is of version `{version}` of the trace format; this Octavo reads {known}")));
    };
    let lanes = file.value(KEY_LANES).unwrap_or_default();
    let lanes = match lanes {
        "32" => 32,
        "64" => 64,
        _ => return Err(wrong(format!("`{KEY_LANES}` is `{lanes}`, expected `32` or `64`"))),
    };
    let text = |key| file.value(key).unwrap_or_default().to_owned();
    Ok(Metadata { header: Header { lanes, source: text(KEY_SOURCE), command: text(KEY_COMMAND) }, version })
}

/// Opens a table whose metadata must equal the instructions' metadata.
pub(super) fn open(path: &Path, expected: &Metadata) -> Result<ParquetFile, TraceError> {
    let file = ParquetFile::open(path)?;
    let found = metadata(&file)?;
    if found != *expected {
        let Metadata { header: Header { source, command, .. }, version } = found;
        let version = version.name();
        let reason = format!("belongs to another trace: it is by `{source}` (`{command}`), of version {version}");
        return Err(TraceError::new(path, reason));
    }
    if file.rows() > MAX_TABLE_ROWS as u64 {
        return Err(TraceError::new(path, too_many_rows(file.rows())));
    }
    Ok(file)
}

/// The allocations: named, ascending, apart.
pub(super) fn allocations(path: &Path, expected: &Metadata) -> Result<Vec<Allocation>, TraceError> {
    let file = open(path, expected)?;
    let name = Column::required(&file, "name", None, Holds::Text, false)?;
    let base = Column::required(&file, "base", None, Holds::Unsigned(64), false)?;
    let bytes = Column::required(&file, "bytes", None, Holds::Unsigned(64), false)?;
    let gpu = Column::find(&file, "gpu", None, Holds::Unsigned(8), false)?;
    let mut table: Vec<Allocation> = Vec::new();
    for group in 0..file.groups() {
        let rows = file.group_rows(group);
        let names = texts(&file, &name, group, rows)?;
        let bases = base.large_numbers(&file, group, rows)?;
        let sizes = bytes.large_numbers(&file, group, rows)?;
        let gpus = match &gpu {
            Some(gpu) => gpu.numbers(&file, group, rows)?,
            None => vec![0; rows],
        };
        for (row, name) in names.into_iter().enumerate() {
            let wide = |_| {
                let reason = format!("allocation `{name}` is on GPU {}, expected 0 to 255", gpus[row]);
                TraceError::at(path, file.first_row(group) + row as u64, reason)
            };
            let gpu = u8::try_from(gpus[row]).map_err(wide)?;
            table.push(Allocation { name, base: bases[row] as u64, bytes: sizes[row] as u64, gpu });
        }
    }
    check_allocations(&table).map_err(|(row, reason)| TraceError::at(path, row as u64, reason))?;
    Ok(table)
}

/// The kind of each allocation of a whole program.
pub(super) fn memories(path: &Path, expected: &Metadata) -> Result<Vec<Memory>, TraceError> {
    let file = open(path, expected)?;
    let kind = Column::required(&file, "kind", None, Holds::Text, false)?;
    let spread = Column::required(&file, "spread", None, Holds::Text, false)?;
    let mut table = Vec::new();
    for group in 0..file.groups() {
        let rows = file.group_rows(group);
        let (kinds, spreads) = (texts(&file, &kind, group, rows)?, texts(&file, &spread, group, rows)?);
        for (row, (kind, spread)) in kinds.iter().zip(&spreads).enumerate() {
            table.push(
                memory(kind, spread)
                    .map_err(|reason| TraceError::at(path, file.first_row(group) + row as u64, reason))?,
            );
        }
    }
    Ok(table)
}

fn memory(kind: &str, spread: &str) -> Result<Memory, String> {
    let wrong = |column: &str, found: &str, known: &[&str]| {
        format!("`{column}` is `{found}`, expected one of {}", known.join(", "))
    };
    let known = Kind::ALL.into_iter().find(|known| known.name() == kind);
    let kind = known.ok_or_else(|| wrong("kind", kind, &Kind::ALL.map(Kind::name)))?;
    let known = Spread::ALL.into_iter().find(|known| known.name() == spread);
    let spread = known.ok_or_else(|| wrong("spread", spread, &Spread::ALL.map(Spread::name)))?;
    Ok(Memory { kind, spread })
}

/// # Errors
/// Row and reason.
pub(crate) fn check_allocations(table: &[Allocation]) -> Result<(), (usize, String)> {
    let mut names = HashSet::new();
    let mut end = 0;
    for (row, Allocation { name, base, bytes, .. }) in table.iter().enumerate() {
        if !names.insert(name) {
            return Err((row, format!("the name `{name}` is taken")));
        }
        if *bytes == 0 {
            return Err((row, format!("allocation `{name}` has 0 bytes")));
        }
        if *base < end {
            return Err((row, format!("allocation `{name}` begins at {base}, before the end {end} of the one before")));
        }
        end = base.checked_add(*bytes).ok_or_else(|| (row, format!("allocation `{name}` reaches beyond 64 bits")))?;
    }
    Ok(())
}

/// Allocations of a whole program share no line: each line has one owner.
///
/// # Errors
/// Row and reason.
pub(super) fn check_apart(table: &[Allocation]) -> Result<(), (usize, String)> {
    let shared =
        table.windows(2).position(|pair| (pair[0].base + pair[0].bytes - 1) / LINE_BYTES >= pair[1].base / LINE_BYTES);
    match shared {
        Some(before) => {
            let [before_name, name] = [before, before + 1].map(|row| &table[row].name);
            Err((before + 1, format!("allocation `{name}` begins in the last line of `{before_name}`")))
        }
        None => Ok(()),
    }
}

/// The launches: numbered, with grids that can be.
pub(super) fn launches(path: &Path, expected: &Metadata) -> Result<Vec<LaunchRow>, TraceError> {
    let file = open(path, expected)?;
    let columns = LaunchColumns::find(&file)?;
    let mut table: Vec<LaunchRow> = Vec::new();
    for group in 0..file.groups() {
        columns.read(&file, group, &mut table)?;
    }
    for (row, launch) in table.iter().enumerate() {
        check_launch(launch, expected.header.lanes).map_err(|reason| TraceError::at(path, row as u64, reason))?;
    }
    Ok(table)
}

/// Numbers of a launch, in the order of [`LaunchColumns::read`].
const NUMBERS: [(&str, u8); 11] = [
    ("launch", 32),
    ("grid_x", 32),
    ("grid_y", 32),
    ("grid_z", 32),
    ("group_x", 32),
    ("group_y", 32),
    ("group_z", 32),
    ("wavefronts_per_group", 16),
    ("vector_registers", 16),
    ("scalar_registers", 16),
    ("local_data_bytes", 32),
];
const SHARE: [(&str, u8); 3] = [("gpu", 8), ("first", 32), ("groups", 32)];

struct LaunchColumns {
    kernel: Column,
    numbers: Vec<Column>,
    /// Columns of younger recordings.
    code_bytes: Option<Column>,
    flushed: Option<Column>,
    split: Vec<Column>,
}

impl LaunchColumns {
    fn find(file: &ParquetFile) -> Result<Self, TraceError> {
        let number = |(name, bits)| Column::required(file, name, None, Holds::Unsigned(bits), false);
        let share = |(name, bits)| Column::required(file, "split", Some(name), Holds::Unsigned(bits), true);
        Ok(Self {
            kernel: Column::required(file, "kernel", None, Holds::Text, false)?,
            numbers: NUMBERS.into_iter().map(number).collect::<Result<_, _>>()?,
            code_bytes: Column::find(file, "code_bytes", None, Holds::Unsigned(32), false)?,
            flushed: Column::find(file, "flushed", None, Holds::Unsigned(8), false)?,
            split: SHARE.into_iter().map(share).collect::<Result<_, _>>()?,
        })
    }

    fn read(&self, file: &ParquetFile, group: usize, table: &mut Vec<LaunchRow>) -> Result<(), TraceError> {
        let rows = file.group_rows(group);
        let kernels = texts(file, &self.kernel, group, rows)?;
        let numbers: Vec<Vec<i32>> =
            self.numbers.iter().map(|column| column.numbers(file, group, rows)).collect::<Result<_, _>>()?;
        let or_zeros = |column: &Option<Column>| match column {
            Some(column) => column.numbers(file, group, rows),
            None => Ok(vec![0; rows]),
        };
        let (code_bytes, flushed) = (or_zeros(&self.code_bytes)?, or_zeros(&self.flushed)?);
        let shares: Vec<(Vec<i32>, Vec<u32>)> =
            self.split.iter().map(|column| column.small_lists(file, group, rows)).collect::<Result<_, _>>()?;
        for (row, kernel) in kernels.into_iter().enumerate() {
            let at = || file.first_row(group) + row as u64;
            let number = |column: usize| numbers[column][row] as u32;
            let small = |column: usize| {
                let value = number(column);
                u16::try_from(value).map_err(|_| {
                    TraceError::at(file.path(), at(), format!("`{}` is {value}, expected 16 bits", NUMBERS[column].0))
                })
            };
            if u64::from(number(0)) != at() {
                return Err(TraceError::at(file.path(), at(), format!("`launch` is {}, expected {}", number(0), at())));
            }
            table.push(LaunchRow {
                kernel,
                grid: [number(1), number(2), number(3)],
                group: [number(4), number(5), number(6)],
                wavefronts_per_group: small(7)?,
                vector_registers: small(8)?,
                scalar_registers: small(9)?,
                local_data_bytes: number(10),
                code_bytes: code_bytes[row] as u32,
                flushed: flushed[row] != 0,
                split: split(&shares, row).ok_or_else(|| {
                    TraceError::at(file.path(), at(), "`split` has a share without all its fields, or a GPU above 255")
                })?,
            });
        }
        Ok(())
    }
}

/// The shares of one launch, from the columns of their fields.
fn split(columns: &[(Vec<i32>, Vec<u32>)], row: usize) -> Option<Vec<Share>> {
    let range = |ends: &[u32]| if row == 0 { 0 } else { ends[row - 1] as usize }..ends[row] as usize;
    let [gpu, first, groups] = columns else { return None };
    let (own, others) = (range(&gpu.1), [range(&first.1), range(&groups.1)]);
    if others.iter().any(|other| *other != own) {
        return None;
    }
    own.map(|index| {
        let gpu = u8::try_from(gpu.0[index]).ok()?;
        Some(Share { gpu, first: first.0[index] as u32, groups: groups.0[index] as u32 })
    })
    .collect()
}

/// # Errors
/// Why there can be no such launch.
pub(crate) fn check_launch(launch: &LaunchRow, lanes: u8) -> Result<(), String> {
    let LaunchRow { grid, group, wavefronts_per_group, split, .. } = launch;
    let Some(work_groups) = launch.work_groups() else {
        return Err(format!("a grid of {grid:?} in groups of {group:?} has no groups, or too many to number"));
    };
    let items = group.iter().map(|size| u64::from(*size)).try_fold(1u64, u64::checked_mul);
    let wavefronts = items.map_or(u64::MAX, |items| items.div_ceil(u64::from(lanes)));
    if u64::from(*wavefronts_per_group) != wavefronts {
        return Err(format!(
            "groups of {group:?} work-items are {wavefronts} wavefronts of {lanes}, not {wavefronts_per_group}"
        ));
    }
    check_split(split, work_groups)
}

/// All work-groups, each on one GPU; or nothing.
fn check_split(split: &[Share], work_groups: u32) -> Result<(), String> {
    if split.is_empty() {
        return Ok(());
    }
    let mut shares: Vec<&Share> = split.iter().filter(|share| share.groups > 0).collect();
    shares.sort_by_key(|share| share.first);
    let mut next = 0u64;
    for share in shares {
        if share.gpu == 0 {
            return Err("`split` names GPU 0; GPUs are counted from 1".to_owned());
        }
        if u64::from(share.first) != next {
            return Err(format!("`split` has groups from {} where {next} is next", share.first));
        }
        next += u64::from(share.groups);
    }
    if next == u64::from(work_groups) {
        return Ok(());
    }
    Err(format!("`split` has {next} groups, but the launch has {work_groups}"))
}

pub(super) fn texts(file: &ParquetFile, column: &Column, group: usize, rows: usize) -> Result<Vec<String>, TraceError> {
    let text = |(row, value): (usize, ByteArray)| {
        let wrong = |reason| TraceError::at(file.path(), file.first_row(group) + row as u64, reason);
        if value.len() > MAX_NAME_BYTES {
            return Err(wrong(format!("a name of {} bytes, expected at most {MAX_NAME_BYTES}", value.len())));
        }
        String::from_utf8(value.data().to_vec()).map_err(|_| wrong("a name that is not UTF-8".to_owned()))
    };
    column.texts(file, group, rows)?.into_iter().enumerate().map(text).collect()
}
