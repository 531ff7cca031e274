//! The table of actions.

use std::path::Path;

use parquet::data_type::{Int32Type, Int64Type};

use super::columns::{Written, large_numbers, list_levels, numbers, texts};
use super::file::{ParquetFile, RowGroup};
use super::limits::groups;
use crate::schema::ACTIONS_SCHEMA;
use crate::{ActionRow, Header, SweepRow, TraceError, Version};

/// Actions of a row group, at most: each has many columns.
const GROUP_ACTIONS: usize = 1 << 14;

pub(super) fn write_actions(path: &Path, header: &Header, table: &[ActionRow]) -> Result<(), TraceError> {
    let mut file = ParquetFile::create(path, ACTIONS_SCHEMA, &[])?;
    let mut first = 0;
    for rows in groups(table, GROUP_ACTIONS, size) {
        file.row_group(|group| {
            numbers(group, &(first..first + rows.len() as u32).collect::<Vec<u32>>())?;
            texts(group, rows.iter().map(|row| row.kind.name()))?;
            lists(group, rows, |row| &row.after)?;
            large_numbers(group, rows.iter().map(|row| row.address))?;
            large_numbers(group, rows.iter().map(|row| row.bytes))?;
            large_numbers(group, rows.iter().map(|row| row.source))?;
            numbers(group, &rows.iter().map(|row| row.processor).collect::<Vec<u8>>())?;
            lists(group, rows, |row| &row.accessed_by)?;
            numbers(group, &rows.iter().map(|row| u8::from(row.read_mostly)).collect::<Vec<u8>>())?;
            numbers(group, &rows.iter().map(|row| row.launch).collect::<Vec<u32>>())?;
            lists(group, rows, |row| &row.allocations)?;
            texts(group, rows.iter().map(|row| row.name.as_str()))?;
            numbers(group, &rows.iter().map(|row| row.threads).collect::<Vec<u32>>())?;
            sweeps(group, rows)
        })?;
        first += rows.len() as u32;
    }
    file.finish(header, Version::Program)
}

/// Its name and its longest list.
pub(super) fn size(row: &ActionRow) -> (&str, usize) {
    let lists = [row.after.len(), row.accessed_by.len(), row.allocations.len(), row.sweeps.len()];
    (&row.name, lists.into_iter().max().unwrap_or_default())
}

fn lists<T: Copy + Into<u32>>(
    group: &mut RowGroup<'_>,
    rows: &[ActionRow],
    list: fn(&ActionRow) -> &Vec<T>,
) -> Written {
    let (definition, repetition) = list_levels(rows.iter().map(|row| list(row).len()));
    let values: Vec<i32> = rows.iter().flat_map(list).map(|value| (*value).into() as i32).collect();
    group.column::<Int32Type>(&values, Some(&definition), Some(&repetition))
}

/// In the order of the schema.
fn sweeps(group: &mut RowGroup<'_>, rows: &[ActionRow]) -> Written {
    let (definition, repetition) = list_levels(rows.iter().map(|row| row.sweeps.len()));
    let all = || rows.iter().flat_map(|row| &row.sweeps);
    let large = |group: &mut RowGroup<'_>, field: fn(&SweepRow) -> u64| {
        let values: Vec<i64> = all().map(|sweep| field(sweep) as i64).collect();
        group.column::<Int64Type>(&values, Some(&definition), Some(&repetition))
    };
    let small = |group: &mut RowGroup<'_>, field: fn(&SweepRow) -> u32| {
        let values: Vec<i32> = all().map(|sweep| field(sweep) as i32).collect();
        group.column::<Int32Type>(&values, Some(&definition), Some(&repetition))
    };
    large(group, |sweep| sweep.address)?;
    large(group, |sweep| sweep.bytes)?;
    small(group, |sweep| sweep.writes.into())?;
    large(group, |sweep| sweep.width)?;
    large(group, |sweep| sweep.stride)?;
    small(group, |sweep| sweep.thread)
}
