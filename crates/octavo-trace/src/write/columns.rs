//! Rows and tables as Parquet columns.

use std::path::Path;

use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};

use super::file::{ParquetFile, RowGroup};
use super::limits::groups;
use crate::rows::Lists;
use crate::schema::{ALLOCATIONS_SCHEMA, INSTRUCTIONS_SCHEMA, LAUNCHES_SCHEMA, MAX_GROUP_ROWS, MEMORIES_SCHEMA};
use crate::{Allocation, Header, Kind, LaunchRow, Memory, Rows, Share, TraceError, Version};

pub(super) type Written = Result<(), parquet::errors::ParquetError>;

/// Columns whose neighbouring values differ by little.
const DELTAS: [&[&str]; 4] =
    [&["sequence"], &["code_lines", "list", "element"], &["lines", "list", "element"], &["partial", "list", "element"]];

pub(super) fn create_instructions(path: &Path) -> Result<ParquetFile, TraceError> {
    ParquetFile::create(path, INSTRUCTIONS_SCHEMA, &DELTAS)
}

pub(super) fn write_rows(file: &mut ParquetFile, rows: &Rows) -> Result<(), TraceError> {
    file.row_group(|group| {
        numbers(group, &rows.launch)?;
        numbers(group, &rows.group)?;
        numbers(group, &rows.wavefront)?;
        numbers(group, &rows.sequence)?;
        kinds(group, &rows.kind)?;
        lists(group, &rows.code_lines)?;
        numbers(group, &rows.bytes)?;
        numbers(group, &rows.lanes)?;
        lists(group, &rows.lines)?;
        lists(group, &rows.partial)?;
        numbers(group, &rows.vector_alu)?;
        numbers(group, &rows.scalar_alu)?;
        numbers(group, &rows.local_data)?;
        numbers(group, &rows.branch)?;
        optional(group, &rows.vector_wait)?;
        optional(group, &rows.scalar_wait)
    })
}

/// The allocations of `memories` of a whole program, or of launches alone.
pub(super) fn write_allocations(
    path: &Path,
    header: &Header,
    table: &[Allocation],
    memories: Option<&[Memory]>,
) -> Result<(), TraceError> {
    let (schema, version) = match memories {
        Some(_) => (MEMORIES_SCHEMA, Version::Program),
        None => (ALLOCATIONS_SCHEMA, Version::Launches),
    };
    let mut file = ParquetFile::create(path, schema, &[])?;
    let mut first = 0;
    for rows in groups(table, MAX_GROUP_ROWS, size_of_allocation) {
        let memories = memories.map(|memories| &memories[first..first + rows.len()]);
        file.row_group(|group| allocations(group, rows, memories))?;
        first += rows.len();
    }
    file.finish(header, version)
}

fn allocations(group: &mut RowGroup<'_>, rows: &[Allocation], memories: Option<&[Memory]>) -> Written {
    texts(group, rows.iter().map(|row| row.name.as_str()))?;
    large_numbers(group, rows.iter().map(|row| row.base))?;
    large_numbers(group, rows.iter().map(|row| row.bytes))?;
    numbers(group, &rows.iter().map(|row| row.gpu).collect::<Vec<u8>>())?;
    let Some(memories) = memories else { return Ok(()) };
    texts(group, memories.iter().map(|memory| memory.kind.name()))?;
    texts(group, memories.iter().map(|memory| memory.spread.name()))
}

/// Its name, and no list.
pub(super) fn size_of_allocation(row: &Allocation) -> (&str, usize) {
    (&row.name, 0)
}

pub(super) fn write_launches(
    path: &Path,
    header: &Header,
    version: Version,
    table: &[LaunchRow],
) -> Result<(), TraceError> {
    let mut file = ParquetFile::create(path, LAUNCHES_SCHEMA, &[])?;
    let mut first = 0;
    for rows in groups(table, MAX_GROUP_ROWS, size_of_launch) {
        file.row_group(|group| launches(group, rows, first))?;
        first += rows.len() as u32;
    }
    file.finish(header, version)
}

/// Launches that are numbered from `first` on.
fn launches(group: &mut RowGroup<'_>, rows: &[LaunchRow], first: u32) -> Written {
    let column = |value: fn(&LaunchRow) -> u32| rows.iter().map(value).collect::<Vec<u32>>();
    numbers(group, &(first..first + rows.len() as u32).collect::<Vec<u32>>())?;
    texts(group, rows.iter().map(|row| row.kernel.as_str()))?;
    for axis in 0..3 {
        numbers(group, &rows.iter().map(|row| row.grid[axis]).collect::<Vec<u32>>())?;
    }
    for axis in 0..3 {
        numbers(group, &rows.iter().map(|row| row.group[axis]).collect::<Vec<u32>>())?;
    }
    numbers(group, &column(|row| row.wavefronts_per_group.into()))?;
    numbers(group, &column(|row| row.vector_registers.into()))?;
    numbers(group, &column(|row| row.scalar_registers.into()))?;
    numbers(group, &column(|row| row.local_data_bytes))?;
    numbers(group, &column(|row| row.code_bytes))?;
    numbers(group, &column(|row| row.flushed.into()))?;
    shares(group, rows)
}

/// Its name, and its only list.
pub(super) fn size_of_launch(row: &LaunchRow) -> (&str, usize) {
    (&row.kernel, row.split.len())
}

pub(super) fn numbers<T: Copy + Into<u32>>(group: &mut RowGroup<'_>, values: &[T]) -> Written {
    // Unsigned numbers are stored as signed ones of the same bits.
    let values: Vec<i32> = values.iter().map(|value| (*value).into() as i32).collect();
    group.column::<Int32Type>(&values, None, None)
}

pub(super) fn large_numbers(group: &mut RowGroup<'_>, values: impl Iterator<Item = u64>) -> Written {
    let values: Vec<i64> = values.map(|value| value as i64).collect();
    group.column::<Int64Type>(&values, None, None)
}

fn optional(group: &mut RowGroup<'_>, values: &[Option<u8>]) -> Written {
    let present: Vec<i32> = values.iter().flatten().map(|value| i32::from(*value)).collect();
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    group.column::<Int32Type>(&present, Some(&levels), None)
}

pub(super) fn texts<'a>(group: &mut RowGroup<'_>, values: impl Iterator<Item = &'a str>) -> Written {
    let values: Vec<ByteArray> = values.map(ByteArray::from).collect();
    group.column::<ByteArrayType>(&values, None, None)
}

fn kinds(group: &mut RowGroup<'_>, values: &[Kind]) -> Written {
    let names = Kind::ALL.map(|kind| ByteArray::from(kind.name()));
    let values: Vec<ByteArray> = values.iter().map(|kind| names[*kind as usize].clone()).collect();
    group.column::<ByteArrayType>(&values, None, None)
}

fn lists(group: &mut RowGroup<'_>, lists: &Lists) -> Written {
    let (definition, repetition) = list_levels(lists.ends.iter().scan(0, |start, end| {
        let length = end - *start;
        *start = *end;
        Some(length as usize)
    }));
    let values: Vec<i64> = lists.values.iter().map(|value| *value as i64).collect();
    group.column::<Int64Type>(&values, Some(&definition), Some(&repetition))
}

fn shares(group: &mut RowGroup<'_>, table: &[LaunchRow]) -> Written {
    let (definition, repetition) = list_levels(table.iter().map(|row| row.split.len()));
    let fields: [fn(&Share) -> u32; 3] = [|share| share.gpu.into(), |share| share.first, |share| share.groups];
    for field in fields {
        let values: Vec<i32> = table.iter().flat_map(|row| &row.split).map(|share| field(share) as i32).collect();
        group.column::<Int32Type>(&values, Some(&definition), Some(&repetition))?;
    }
    Ok(())
}

/// Definition and repetition levels of required lists of required elements with these lengths.
pub(super) fn list_levels(lengths: impl Iterator<Item = usize>) -> (Vec<i16>, Vec<i16>) {
    let (mut definition, mut repetition) = (Vec::new(), Vec::new());
    for length in lengths {
        definition.extend(std::iter::repeat_n(i16::from(length > 0), length.max(1)));
        repetition.push(0);
        repetition.extend(std::iter::repeat_n(1, length.saturating_sub(1)));
    }
    (definition, repetition)
}
