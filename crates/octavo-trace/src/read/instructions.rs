//! `instructions.parquet`, decoded a row group or less at a time.

use std::path::Path;

use parquet::data_type::{ByteArrayType, DataType, Int32Type, Int64Type};

use super::column::{Chunk, Column, Holds};
use super::footer::ParquetFile;
use crate::lines::partial_together;
use crate::rows::Lists;
use crate::{Key, Kind, Rows, TraceError};

/// The open file and where its columns are.
pub(super) struct Instructions {
    pub file: ParquetFile,
    launch: Column,
    group: Column,
    wavefront: Column,
    sequence: Column,
    kind: Column,
    code_lines: Option<Column>,
    bytes: Column,
    lanes: Column,
    /// One of the two, or both.
    lines: Option<Column>,
    addresses: Option<Column>,
    partial: Option<Column>,
    vector_alu: Column,
    scalar_alu: Column,
    local_data: Column,
    branch: Column,
    vector_wait: Column,
    scalar_wait: Column,
}

impl Instructions {
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        let file = ParquetFile::open(path)?;
        let unsigned = |name, bits| Column::required(&file, name, None, Holds::Unsigned(bits), false);
        let list = |name| Column::find(&file, name, None, Holds::Unsigned(64), true);
        let (lines, addresses) = (list("lines")?, list("addresses")?);
        if lines.is_none() && addresses.is_none() {
            return Err(TraceError::new(path, "column `lines` is missing, and so is `addresses`"));
        }
        Ok(Self {
            launch: unsigned("launch", 32)?,
            group: unsigned("group", 32)?,
            wavefront: unsigned("wavefront", 16)?,
            sequence: unsigned("sequence", 32)?,
            kind: Column::required(&file, "kind", None, Holds::Text, false)?,
            code_lines: list("code_lines")?,
            bytes: unsigned("bytes", 16)?,
            lanes: unsigned("lanes", 8)?,
            lines,
            addresses,
            partial: list("partial")?,
            vector_alu: unsigned("vector_alu", 32)?,
            scalar_alu: unsigned("scalar_alu", 32)?,
            local_data: unsigned("local_data", 32)?,
            branch: unsigned("branch", 32)?,
            vector_wait: unsigned("vector_wait", 8)?,
            scalar_wait: unsigned("scalar_wait", 8)?,
            file,
        })
    }

    /// Key of the first row of a row group that has one.
    pub fn first_key(&self, group: usize) -> Result<Key, TraceError> {
        let first = |column| self.first::<Int32Type>(column, group).map(|value| value as u32);
        let wavefront = first(&self.wavefront)?;
        Ok(Key {
            launch: first(&self.launch)?,
            group: first(&self.group)?,
            wavefront: u16::try_from(wavefront)
                .map_err(|_| self.too_large(self.file.first_row(group), "wavefront", wavefront))?,
            sequence: first(&self.sequence)?,
        })
    }

    /// All rows of a row group.
    pub fn rows(&self, group: usize) -> Result<Rows, TraceError> {
        let mut rows = Rows::default();
        if self.file.group_rows(group) == 0 {
            return Ok(rows);
        }
        Batches::new(self, group)?.fill(&mut rows, usize::MAX)?;
        Ok(rows)
    }

    fn first<T: DataType>(&self, column: &Column, group: usize) -> Result<T::T, TraceError> {
        let mut chunk = column.chunk::<T>(&self.file, group)?;
        chunk.flat(1).map(|values| values[0].clone())
    }

    fn wrong(&self, row: u64, reason: String) -> TraceError {
        TraceError::at(self.file.path(), row, reason)
    }

    fn too_large(&self, row: u64, name: &str, value: u32) -> TraceError {
        self.wrong(row, format!("`{name}` is {value}, more than its type holds"))
    }
}

/// The rows of a row group, some at a time.
pub(crate) struct Batches<'a> {
    instructions: &'a Instructions,
    /// Numbers of the next row and of the one after the last, in the file.
    row: u64,
    end: u64,
    launch: Numbers<'a>,
    group: Numbers<'a>,
    wavefront: Numbers<'a>,
    sequence: Numbers<'a>,
    kind: Chunk<'a, ByteArrayType>,
    code_lines: Option<LargeNumbers<'a>>,
    bytes: Numbers<'a>,
    lanes: Numbers<'a>,
    lines: Option<LargeNumbers<'a>>,
    addresses: Option<LargeNumbers<'a>>,
    partial: Option<LargeNumbers<'a>>,
    vector_alu: Numbers<'a>,
    scalar_alu: Numbers<'a>,
    local_data: Numbers<'a>,
    branch: Numbers<'a>,
    vector_wait: Numbers<'a>,
    scalar_wait: Numbers<'a>,
}

type Numbers<'a> = Chunk<'a, Int32Type>;
type LargeNumbers<'a> = Chunk<'a, Int64Type>;

impl<'a> Batches<'a> {
    pub(super) fn new(instructions: &'a Instructions, group: usize) -> Result<Self, TraceError> {
        let file = &instructions.file;
        let numbers = |column: &'a Column| column.chunk::<Int32Type>(file, group);
        let lists = |column: &'a Option<Column>| {
            column.as_ref().map(|column| column.chunk::<Int64Type>(file, group)).transpose()
        };
        Ok(Self {
            instructions,
            row: file.first_row(group),
            end: file.first_row(group + 1),
            launch: numbers(&instructions.launch)?,
            group: numbers(&instructions.group)?,
            wavefront: numbers(&instructions.wavefront)?,
            sequence: numbers(&instructions.sequence)?,
            kind: instructions.kind.chunk(file, group)?,
            code_lines: lists(&instructions.code_lines)?,
            bytes: numbers(&instructions.bytes)?,
            lanes: numbers(&instructions.lanes)?,
            lines: lists(&instructions.lines)?,
            addresses: lists(&instructions.addresses)?,
            partial: lists(&instructions.partial)?,
            vector_alu: numbers(&instructions.vector_alu)?,
            scalar_alu: numbers(&instructions.scalar_alu)?,
            local_data: numbers(&instructions.local_data)?,
            branch: numbers(&instructions.branch)?,
            vector_wait: numbers(&instructions.vector_wait)?,
            scalar_wait: numbers(&instructions.scalar_wait)?,
        })
    }

    /// Replaces `rows` by the next ones, at most `most`; returns the number of the first in the file, `None` when there
    /// are no more.
    pub fn fill(&mut self, rows: &mut Rows, most: usize) -> Result<Option<u64>, TraceError> {
        let (first, count) = (self.row, most.min((self.end - self.row) as usize));
        rows.clear();
        if count == 0 {
            return Ok(None);
        }
        let from = self.instructions;
        plain(&mut self.launch, &mut rows.launch, count)?;
        plain(&mut self.group, &mut rows.group, count)?;
        narrow(from, &mut self.wavefront, &mut rows.wavefront, (first, count), "wavefront")?;
        plain(&mut self.sequence, &mut rows.sequence, count)?;
        self.kinds(&mut rows.kind, count)?;
        lists(&mut self.code_lines, &mut rows.code_lines, count)?;
        narrow(from, &mut self.bytes, &mut rows.bytes, (first, count), "bytes")?;
        narrow(from, &mut self.lanes, &mut rows.lanes, (first, count), "lanes")?;
        lists(&mut self.lines, &mut rows.lines, count)?;
        lists(&mut self.addresses, &mut rows.addresses, count)?;
        match self.partial {
            Some(_) => lists(&mut self.partial, &mut rows.partial, count)?,
            None => partial_lines_not_recorded(rows, count),
        }
        plain(&mut self.vector_alu, &mut rows.vector_alu, count)?;
        plain(&mut self.scalar_alu, &mut rows.scalar_alu, count)?;
        plain(&mut self.local_data, &mut rows.local_data, count)?;
        plain(&mut self.branch, &mut rows.branch, count)?;
        waits(from, &mut self.vector_wait, &mut rows.vector_wait, (first, count))?;
        waits(from, &mut self.scalar_wait, &mut rows.scalar_wait, (first, count))?;
        self.one_or_the_other(rows)?;
        self.row += count as u64;
        Ok(Some(first))
    }

    fn kinds(&mut self, kinds: &mut Vec<Kind>, count: usize) -> Result<(), TraceError> {
        for (row, name) in self.kind.flat(count)?.iter().enumerate() {
            let kind = Kind::named(name.data()).ok_or_else(|| {
                let expected = Kind::ALL.map(Kind::name).join(", ");
                let found = String::from_utf8_lossy(&name.data()[..name.len().min(40)]).into_owned();
                let reason = format!("unknown kind `{found}`, expected one of {expected}");
                self.instructions.wrong(self.row + row as u64, reason)
            })?;
            kinds.push(kind);
        }
        Ok(())
    }

    fn one_or_the_other(&self, rows: &Rows) -> Result<(), TraceError> {
        if rows.lines.values.is_empty() || rows.addresses.values.is_empty() {
            return Ok(());
        }
        let both = |row: &usize| !rows.lines.get(*row).is_empty() && !rows.addresses.get(*row).is_empty();
        match (0..rows.len()).find(both) {
            Some(row) => {
                Err(self.instructions.wrong(self.row + row as u64, "has both `lines` and `addresses`".to_owned()))
            }
            None => Ok(()),
        }
    }
}

fn plain(column: &mut Numbers<'_>, values: &mut Vec<u32>, count: usize) -> Result<(), TraceError> {
    values.extend(column.flat(count)?.iter().map(|value| *value as u32));
    Ok(())
}

/// Numbers as a smaller type, which they fit in unless the file is damaged.
fn narrow<T: TryFrom<u32>>(
    from: &Instructions,
    column: &mut Numbers<'_>,
    values: &mut Vec<T>,
    (first, count): (u64, usize),
    name: &str,
) -> Result<(), TraceError> {
    for (row, value) in column.flat(count)?.iter().enumerate() {
        let value = *value as u32;
        values.push(T::try_from(value).map_err(|_| from.too_large(first + row as u64, name, value))?);
    }
    Ok(())
}

/// Lists, all of them empty if there is no such column; their numbers bit by bit as they are stored.
fn lists(column: &mut Option<LargeNumbers<'_>>, lists: &mut Lists, count: usize) -> Result<(), TraceError> {
    match column {
        Some(column) => lists.values.extend(column.lists(count, &mut lists.ends)?.iter().map(|value| *value as u64)),
        None => lists.ends.resize(count, 0),
    }
    Ok(())
}

/// Before the column `partial` there was, a store filled all of its lines or none.
fn partial_lines_not_recorded(rows: &mut Rows, count: usize) {
    for row in 0..count {
        if rows.kind[row].is_written() {
            let bytes = u64::from(rows.bytes[row]) * u64::from(rows.lanes[row]);
            partial_together(bytes, rows.lines.get(row).len(), &mut rows.partial.values);
        }
        rows.partial.ends.push(rows.partial.values.len() as u32);
    }
}

fn waits(
    from: &Instructions,
    column: &mut Numbers<'_>,
    waits: &mut Vec<Option<u8>>,
    (first, count): (u64, usize),
) -> Result<(), TraceError> {
    for (row, value) in column.optional(count)?.enumerate() {
        let wait = value.map(|value| {
            let wide = |_| format!("a wait for {value} instructions, expected 0 to 255");
            u8::try_from(value).map_err(wide).map_err(|reason| from.wrong(first + row as u64, reason))
        });
        waits.push(wait.transpose()?);
    }
    Ok(())
}
