//! `actions.parquet`: the program around the launches.

use std::ops::Range;
use std::path::Path;

use super::column::{Column, Holds};
use super::footer::ParquetFile;
use super::tables::{Metadata, open, texts};
use crate::{ActionKind, ActionRow, SweepRow, TraceError};

/// Numbers of an action, of 64 and of fewer bits.
const LARGE: [&str; 3] = ["address", "bytes", "source"];
const SMALL: [(&str, u8); 5] = [("action", 32), ("processor", 8), ("read_mostly", 8), ("launch", 32), ("threads", 32)];
const LISTS: [(&str, u8); 3] = [("after", 32), ("accessed_by", 8), ("allocations", 32)];
const LARGE_OF_SWEEPS: [&str; 4] = ["address", "bytes", "width", "stride"];
const SMALL_OF_SWEEPS: [(&str, u8); 2] = [("writes", 8), ("thread", 32)];

/// The rows of the table, each of which is made of values that its columns may have.
pub(super) fn actions(path: &Path, expected: &Metadata) -> Result<Vec<ActionRow>, TraceError> {
    let file = open(path, expected)?;
    let columns = Columns::find(&file)?;
    let mut table = Vec::new();
    for group in 0..file.groups() {
        columns.read(&file, group)?.append(&file, group, &mut table)?;
    }
    Ok(table)
}

/// Columns, in the order of the lists of names.
struct Columns {
    kind: Column,
    name: Column,
    large: [Column; 3],
    small: [Column; 5],
    lists: [Column; 3],
    large_of_sweeps: [Column; 4],
    small_of_sweeps: [Column; 2],
}

impl Columns {
    fn find(file: &ParquetFile) -> Result<Self, TraceError> {
        let text = |name| Column::required(file, name, None, Holds::Text, false);
        let sweep = |name, bits| Column::required(file, "sweeps", Some(name), Holds::Unsigned(bits), true);
        Ok(Self {
            kind: text("kind")?,
            name: text("name")?,
            large: each(LARGE, |name| Column::required(file, name, None, Holds::Unsigned(64), false))?,
            small: each(SMALL, |(name, bits)| Column::required(file, name, None, Holds::Unsigned(bits), false))?,
            lists: each(LISTS, |(name, bits)| Column::required(file, name, None, Holds::Unsigned(bits), true))?,
            large_of_sweeps: each(LARGE_OF_SWEEPS, |name| sweep(name, 64))?,
            small_of_sweeps: each(SMALL_OF_SWEEPS, |(name, bits)| sweep(name, bits))?,
        })
    }

    fn read(&self, file: &ParquetFile, group: usize) -> Result<Group, TraceError> {
        let rows = file.group_rows(group);
        let sweeps = &self.large_of_sweeps;
        Ok(Group {
            kind: texts(file, &self.kind, group, rows)?,
            name: texts(file, &self.name, group, rows)?,
            large: each(&self.large, |column| column.large_numbers(file, group, rows))?,
            small: each(&self.small, |column| column.numbers(file, group, rows))?,
            lists: each(&self.lists, |column| column.small_lists(file, group, rows).map(Lists::from))?,
            large_of_sweeps: each(sweeps, |column| column.large_lists(file, group, rows).map(Lists::from))?,
            small_of_sweeps: each(&self.small_of_sweeps, |column| {
                column.small_lists(file, group, rows).map(Lists::from)
            })?,
        })
    }
}

/// A row group, decoded.
struct Group {
    kind: Vec<String>,
    name: Vec<String>,
    large: [Vec<i64>; 3],
    small: [Vec<i32>; 5],
    lists: [Lists<i32>; 3],
    large_of_sweeps: [Lists<i64>; 4],
    small_of_sweeps: [Lists<i32>; 2],
}

impl Group {
    fn append(self, file: &ParquetFile, group: usize, table: &mut Vec<ActionRow>) -> Result<(), TraceError> {
        for row in 0..self.kind.len() {
            let number = file.first_row(group) + row as u64;
            table.push(self.row(row, number).map_err(|reason| TraceError::at(file.path(), number, reason))?);
        }
        Ok(())
    }

    fn row(&self, row: usize, number: u64) -> Result<ActionRow, String> {
        let [action, processor, read_mostly, launch, threads] = self.small.each_ref().map(|column| column[row] as u32);
        if u64::from(action) != number {
            return Err(format!("`action` is {action}, expected {number}"));
        }
        let known = || ActionKind::ALL.map(ActionKind::name).join(", ");
        let kind = ActionKind::named(&self.kind[row])
            .ok_or_else(|| format!("unknown kind `{}`, expected one of {}", self.kind[row], known()))?;
        let [address, bytes, source] = self.large.each_ref().map(|column| column[row] as u64);
        let [after, accessed_by, allocations] = self.lists.each_ref().map(|lists| lists.get(row));
        Ok(ActionRow {
            kind,
            after: unsigned(after),
            address,
            bytes,
            source,
            processor: byte("processor", processor)?,
            accessed_by: accessed_by.iter().map(|one| byte("accessed_by", *one as u32)).collect::<Result<_, _>>()?,
            read_mostly: flag("read_mostly", read_mostly)?,
            launch,
            allocations: unsigned(allocations),
            name: self.name[row].clone(),
            threads,
            sweeps: self.sweeps(row)?,
        })
    }

    fn sweeps(&self, row: usize) -> Result<Vec<SweepRow>, String> {
        let own = self.large_of_sweeps[0].range(row);
        let large = self.large_of_sweeps.iter().all(|lists| lists.range(row) == own);
        if !large || self.small_of_sweeps.iter().any(|lists| lists.range(row) != own) {
            return Err("`sweeps` has one without all its fields".to_owned());
        }
        let sweep = |index: usize| {
            let [address, bytes, width, stride] =
                self.large_of_sweeps.each_ref().map(|lists| lists.values[index] as u64);
            let [writes, thread] = self.small_of_sweeps.each_ref().map(|lists| lists.values[index] as u32);
            Ok(SweepRow { address, bytes, writes: flag("writes", writes)?, width, stride, thread })
        };
        own.map(sweep).collect()
    }
}

/// A list for each row.
struct Lists<T> {
    values: Vec<T>,
    ends: Vec<u32>,
}

impl<T> From<(Vec<T>, Vec<u32>)> for Lists<T> {
    fn from((values, ends): (Vec<T>, Vec<u32>)) -> Self {
        Self { values, ends }
    }
}

impl<T> Lists<T> {
    fn range(&self, row: usize) -> Range<usize> {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        start..self.ends[row] as usize
    }

    fn get(&self, row: usize) -> &[T] {
        &self.values[self.range(row)]
    }
}

/// One of each.
fn each<S, T, const N: usize>(
    of: impl IntoIterator<Item = S>,
    make: impl FnMut(S) -> Result<T, TraceError>,
) -> Result<[T; N], TraceError> {
    let made = of.into_iter().map(make).collect::<Result<Vec<T>, TraceError>>()?;
    Ok(made.try_into().unwrap_or_else(|_| unreachable!("as many as there are names")))
}

fn unsigned(values: &[i32]) -> Vec<u32> {
    values.iter().map(|value| *value as u32).collect()
}

fn byte(column: &str, value: u32) -> Result<u8, String> {
    u8::try_from(value).map_err(|_| format!("`{column}` is {value}, expected 0 to 255"))
}

fn flag(column: &str, value: u32) -> Result<bool, String> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(format!("`{column}` is {value}, expected 0 or 1")),
    }
}
