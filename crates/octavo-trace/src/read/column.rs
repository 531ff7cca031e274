//! Columns: found by name, checked for their type, decoded a row group at a time.

use std::sync::Arc;

use bytes::{Buf, Bytes, buf::Reader};
use parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor, Type};

use super::footer::ParquetFile;
use super::guard::guarded;
use super::pages::check_pages;
use crate::TraceError;
use crate::rows::Lists;

/// What a column must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// Unsigned integers of this many bits.
    Unsigned(u8),
    Text,
}

/// A column of a file: one value for each row, or a list of them.
#[derive(Clone, Debug)]
pub(super) struct Column {
    index: usize,
    path: String,
    descriptor: ColumnDescPtr,
    /// Definition level from which on there is an element, for lists.
    element_level: i16,
}

impl Column {
    /// The column whose path begins with `name` (and ends with `field`, for lists of structures); `None` if absent.
    pub fn find(
        file: &ParquetFile,
        name: &str,
        field: Option<&str>,
        holds: Holds,
        list: bool,
    ) -> Result<Option<Self>, TraceError> {
        let schema = file.metadata.file_metadata().schema_descr();
        let found = schema.columns().iter().enumerate().find(|(_, column)| {
            let parts = column.path().parts();
            parts[0] == name && field.is_none_or(|field| parts.last().is_some_and(|last| last == field))
        });
        let Some((index, descriptor)) = found else { return Ok(None) };
        let path = descriptor.path().string();
        let levels = i16::from(list);
        if describe(descriptor) != Some(holds) || descriptor.max_rep_level() != levels {
            let (expected, found) = (expectation(holds, list), finding(descriptor));
            return Err(TraceError::new(file.path(), format!("column `{path}`: expected {expected}, found {found}")));
        }
        let element_level = element_level(schema.root_schema(), descriptor.path().parts());
        Ok(Some(Self { index, path, descriptor: descriptor.clone(), element_level }))
    }

    /// As [`Column::find`], for columns that must be there.
    pub fn required(
        file: &ParquetFile,
        name: &str,
        field: Option<&str>,
        holds: Holds,
        list: bool,
    ) -> Result<Self, TraceError> {
        let missing = || {
            let name = field.map_or_else(|| name.to_owned(), |field| format!("{name}.{field}"));
            TraceError::new(file.path(), format!("column `{name}` is missing"))
        };
        Self::find(file, name, field, holds, list)?.ok_or_else(missing)
    }

    /// Values of the first `rows` rows of a row group, of which there are as many.
    pub fn numbers(&self, file: &ParquetFile, group: usize, rows: usize) -> Result<Vec<i32>, TraceError> {
        self.flat::<Int32Type>(file, group, rows)
    }

    pub fn large_numbers(&self, file: &ParquetFile, group: usize, rows: usize) -> Result<Vec<i64>, TraceError> {
        self.flat::<Int64Type>(file, group, rows)
    }

    pub fn texts(&self, file: &ParquetFile, group: usize, rows: usize) -> Result<Vec<ByteArray>, TraceError> {
        self.flat::<ByteArrayType>(file, group, rows)
    }

    /// Values with nulls among them.
    pub fn optional(&self, file: &ParquetFile, group: usize, rows: usize) -> Result<Vec<Option<i32>>, TraceError> {
        let Decoded { values, definition, .. } = self.decode::<Int32Type>(file, group, rows)?;
        let full = self.descriptor.max_def_level();
        if full == 0 {
            return Ok(values.into_iter().map(Some).collect());
        }
        let mut values = values.into_iter();
        Ok(definition.into_iter().map(|level| if level == full { values.next() } else { None }).collect())
    }

    /// One list for each row, their numbers bit by bit as they are stored.
    pub fn lists(&self, file: &ParquetFile, group: usize, rows: usize) -> Result<Lists, TraceError> {
        let decoded = self.decode::<Int64Type>(file, group, rows)?;
        let ends = self.ends(file, group, rows, &decoded)?;
        Ok(Lists { values: decoded.values.into_iter().map(|value| value as u64).collect(), ends })
    }

    /// One list of small numbers for each row.
    pub fn small_lists(
        &self,
        file: &ParquetFile,
        group: usize,
        rows: usize,
    ) -> Result<(Vec<i32>, Vec<u32>), TraceError> {
        let decoded = self.decode::<Int32Type>(file, group, rows)?;
        let ends = self.ends(file, group, rows, &decoded)?;
        Ok((decoded.values, ends))
    }

    fn flat<T: DataType>(&self, file: &ParquetFile, group: usize, rows: usize) -> Result<Vec<T::T>, TraceError> {
        let decoded = self.decode::<T>(file, group, rows)?;
        if decoded.values.len() == rows {
            return Ok(decoded.values);
        }
        let full = self.descriptor.max_def_level();
        let null = decoded.definition.iter().position(|level| *level != full).unwrap_or(decoded.values.len());
        Err(TraceError::at(file.path(), file.first_row(group) + null as u64, format!("`{}` is null", self.path)))
    }

    /// Where each row's list ends among the values.
    fn ends<T>(
        &self,
        file: &ParquetFile,
        group: usize,
        rows: usize,
        decoded: &Decoded<T>,
    ) -> Result<Vec<u32>, TraceError> {
        let full = self.descriptor.max_def_level();
        let mut ends = Vec::with_capacity(rows + 1);
        let mut count = 0u32;
        for (definition, repetition) in decoded.definition.iter().zip(&decoded.repetition) {
            if *repetition == 0 {
                // The row before ends; so does the nothing before the first row.
                ends.push(count);
            }
            if *definition == full {
                count += 1;
            } else if *definition >= self.element_level {
                let row = file.first_row(group) + (ends.len() as u64).saturating_sub(1);
                return Err(TraceError::at(file.path(), row, format!("`{}` holds a null", self.path)));
            }
        }
        ends.push(count);
        ends.remove(0);
        if ends.len() != rows || decoded.values.len() != count as usize {
            let reason = format!("column `{}` has {} lists for {rows} rows", self.path, ends.len());
            return Err(TraceError::at(file.path(), file.first_row(group), reason));
        }
        Ok(ends)
    }

    fn decode<T: DataType>(&self, file: &ParquetFile, group: usize, rows: usize) -> Result<Decoded<T::T>, TraceError> {
        self.try_decode::<T>(file, group, rows).map_err(|reason| {
            let (first, end) = (file.first_row(group), file.first_row(group + 1));
            let reason = format!("column `{}` of rows {first} to {end} {reason}", self.path);
            TraceError::at(file.path(), first, reason)
        })
    }

    fn try_decode<T: DataType>(&self, file: &ParquetFile, group: usize, rows: usize) -> Result<Decoded<T::T>, String> {
        let chunk = file.metadata.row_group(group).column(self.index);
        let bytes = file.chunk(chunk)?;
        check_pages(&bytes)?;
        let mut decoded = Decoded { values: Vec::new(), definition: Vec::new(), repetition: Vec::new() };
        let read = guarded(|| {
            let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset()) as u64;
            let window = Arc::new(Window { start, bytes: bytes.into() });
            let pages = SerializedPageReader::new(window, chunk, file.group_rows(group), None)?;
            let mut reader = typed::<T>(get_column_reader(self.descriptor.clone(), Box::new(pages)))?;
            let Decoded { values, definition, repetition } = &mut decoded;
            reader.read_records(rows, Some(definition), Some(repetition), values).map(|(records, ..)| records)
        })?;
        if read != rows {
            return Err(format!("has {read} rows"));
        }
        Ok(decoded)
    }
}

/// Values that are there, and the levels of all.
struct Decoded<T> {
    values: Vec<T>,
    definition: Vec<i16>,
    repetition: Vec<i16>,
}

fn typed<T: DataType>(reader: ColumnReader) -> Result<ColumnReaderImpl<T>, ParquetError> {
    T::get_column_reader(reader).ok_or_else(|| ParquetError::General("has another type than its schema".to_owned()))
}

/// What a column holds, if it is anything that a trace has.
fn describe(descriptor: &ColumnDescriptor) -> Option<Holds> {
    let unsigned = match (descriptor.logical_type_ref(), descriptor.converted_type()) {
        (Some(LogicalType::Integer(integer)), _) if !integer.is_signed => u8::try_from(integer.bit_width).ok(),
        (None, ConvertedType::UINT_8) => Some(8),
        (None, ConvertedType::UINT_16) => Some(16),
        (None, ConvertedType::UINT_32) => Some(32),
        (None, ConvertedType::UINT_64) => Some(64),
        _ => None,
    };
    match (descriptor.physical_type(), unsigned) {
        (Physical::INT32, Some(bits @ (8 | 16 | 32))) => Some(Holds::Unsigned(bits)),
        (Physical::INT64, Some(64)) => Some(Holds::Unsigned(64)),
        (Physical::BYTE_ARRAY, None) => Some(Holds::Text),
        _ => None,
    }
}

fn expectation(holds: Holds, list: bool) -> String {
    let one = match holds {
        Holds::Unsigned(bits) => format!("uint{bits}"),
        Holds::Text => "string".to_owned(),
    };
    if list { format!("a list of {one}") } else { one }
}

fn finding(descriptor: &ColumnDescriptor) -> String {
    let one = match describe(descriptor) {
        Some(holds) => expectation(holds, false),
        None => match descriptor.logical_type_ref() {
            Some(kind) => format!("{} ({kind:?})", descriptor.physical_type()),
            None => descriptor.physical_type().to_string(),
        },
    };
    match descriptor.max_rep_level() {
        0 => one,
        1 => format!("a list of {one}"),
        _ => format!("lists within lists of {one}"),
    }
}

/// Definition level of the innermost repeated part of a path: at or above it, an element exists.
fn element_level(root: &Type, path: &[String]) -> i16 {
    let (mut node, mut level, mut element) = (root, 0, 0);
    for part in path {
        let Some(child) = node.get_fields().iter().find(|child| child.name() == part) else { break };
        node = child;
        let info = node.get_basic_info();
        if info.has_repetition() && info.repetition() != parquet::basic::Repetition::REQUIRED {
            level += 1;
        }
        if info.has_repetition() && info.repetition() == parquet::basic::Repetition::REPEATED {
            element = level;
        }
    }
    element
}

/// A piece of a file in memory, addressed as in the file.
struct Window {
    start: u64,
    bytes: Bytes,
}

impl Window {
    fn from(&self, start: u64) -> Result<Bytes, ParquetError> {
        let offset = start.checked_sub(self.start).and_then(|offset| usize::try_from(offset).ok());
        match offset.filter(|offset| *offset <= self.bytes.len()) {
            Some(offset) => Ok(self.bytes.slice(offset..)),
            None => Err(ParquetError::EOF(format!("has no byte {start}"))),
        }
    }
}

impl Length for Window {
    fn len(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl ChunkReader for Window {
    type T = Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(self.from(start)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let bytes = self.from(start)?;
        if length > bytes.len() {
            return Err(ParquetError::EOF(format!("has no {length} bytes at {start}")));
        }
        Ok(bytes.slice(..length))
    }
}
