//! Columns: found by name, checked for their type, decoded one row group at a time.

use std::sync::Arc;

use bytes::{Buf, Bytes, buf::Reader};
use parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type, Int64Type,
    Int96Type,
};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor, Type};

use super::footer::ParquetFile;
use super::guard::guarded;
use super::pages::check_pages;
use crate::TraceError;
use crate::schema::{MAX_LIST, too_long};

/// The required content of a column.
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

    /// Like [`Column::find`], for required columns.
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

    /// All columns of a file, whatever they hold.
    pub fn all(file: &ParquetFile) -> impl Iterator<Item = Self> + '_ {
        let schema = file.metadata.file_metadata().schema_descr();
        schema.columns().iter().enumerate().map(|(index, descriptor)| {
            let (path, descriptor) = (descriptor.path().string(), descriptor.clone());
            let element_level = element_level(schema.root_schema(), descriptor.path().parts());
            Self { index, path, descriptor, element_level }
        })
    }

    /// Decodes a row group, to see whether that is possible and whether everything is as long as claimed.
    pub fn check(&self, file: &ParquetFile, group: usize) -> Result<(), TraceError> {
        let claims = self.claims(file, group).map_err(|reason| self.undecodable(file, group, &reason))?;
        let rows = file.group_rows(group) as u64;
        if self.descriptor.max_rep_level() == 0 && claims.iter().any(|values| *values != rows) {
            let reason = format!("claims {} values, and its pages {}, in {rows} rows", claims[0], claims[1]);
            return Err(self.undecodable(file, group, &reason));
        }
        match self.descriptor.physical_type() {
            Physical::BOOLEAN => self.decode_all::<BoolType>(file, group).map(drop),
            Physical::INT32 => self.decode_all::<Int32Type>(file, group).map(drop),
            Physical::INT64 => self.decode_all::<Int64Type>(file, group).map(drop),
            Physical::INT96 => self.decode_all::<Int96Type>(file, group).map(drop),
            Physical::FLOAT => self.decode_all::<FloatType>(file, group).map(drop),
            Physical::DOUBLE => self.decode_all::<DoubleType>(file, group).map(drop),
            Physical::FIXED_LEN_BYTE_ARRAY => self.decode_all::<FixedLenByteArrayType>(file, group).map(drop),
            Physical::BYTE_ARRAY => {
                let texts = self.decode_all::<ByteArrayType>(file, group)?;
                let is_text = self.descriptor.converted_type() == ConvertedType::UTF8;
                if is_text && texts.iter().any(|text| text.as_utf8().is_err()) {
                    return Err(self.undecodable(file, group, "has text that is not UTF-8"));
                }
                Ok(())
            }
        }
    }

    /// The number of values that the footer claims for a row group, and the number that its pages contain.
    fn claims(&self, file: &ParquetFile, group: usize) -> Result<[u64; 2], String> {
        let chunk = file.metadata.row_group(group).column(self.index);
        Ok([chunk.num_values() as u64, check_pages(&file.chunk(chunk)?)?])
    }

    fn decode_all<T: DataType>(&self, file: &ParquetFile, group: usize) -> Result<Vec<T::T>, TraceError> {
        let mut chunk = self.chunk::<T>(file, group)?;
        chunk.decode(file.group_rows(group))?;
        Ok(chunk.decoded.values)
    }

    /// Values of the first `rows` rows of a row group, one for each.
    pub fn numbers(&self, file: &ParquetFile, group: usize, rows: usize) -> Result<Vec<i32>, TraceError> {
        self.flat::<Int32Type>(file, group, rows)
    }

    pub fn large_numbers(&self, file: &ParquetFile, group: usize, rows: usize) -> Result<Vec<i64>, TraceError> {
        self.flat::<Int64Type>(file, group, rows)
    }

    pub fn texts(&self, file: &ParquetFile, group: usize, rows: usize) -> Result<Vec<ByteArray>, TraceError> {
        self.flat::<ByteArrayType>(file, group, rows)
    }

    /// One list of small numbers for each row.
    pub fn small_lists(
        &self,
        file: &ParquetFile,
        group: usize,
        rows: usize,
    ) -> Result<(Vec<i32>, Vec<u32>), TraceError> {
        self.lists::<Int32Type>(file, group, rows)
    }

    /// One list of large numbers for each row.
    pub fn large_lists(
        &self,
        file: &ParquetFile,
        group: usize,
        rows: usize,
    ) -> Result<(Vec<i64>, Vec<u32>), TraceError> {
        self.lists::<Int64Type>(file, group, rows)
    }

    fn lists<T: DataType>(
        &self,
        file: &ParquetFile,
        group: usize,
        rows: usize,
    ) -> Result<(Vec<T::T>, Vec<u32>), TraceError> {
        let (mut chunk, mut ends) = (self.chunk::<T>(file, group)?, Vec::new());
        chunk.lists(rows, &mut ends)?;
        Ok((chunk.decoded.values, ends))
    }

    fn flat<T: DataType>(&self, file: &ParquetFile, group: usize, rows: usize) -> Result<Vec<T::T>, TraceError> {
        let mut chunk = self.chunk::<T>(file, group)?;
        chunk.flat(rows)?;
        Ok(chunk.decoded.values)
    }

    /// The column in a row group, to be decoded piece by piece.
    pub fn chunk<'a, T: DataType>(&'a self, file: &'a ParquetFile, group: usize) -> Result<Chunk<'a, T>, TraceError> {
        let decoded = Decoded { values: Vec::new(), definition: Vec::new(), repetition: Vec::new() };
        match self.reader::<T>(file, group) {
            Ok(reader) => Ok(Chunk { column: self, file, group, reader, taken: 0, decoded }),
            Err(reason) => Err(self.undecodable(file, group, &reason)),
        }
    }

    fn reader<T: DataType>(&self, file: &ParquetFile, group: usize) -> Result<ColumnReaderImpl<T>, String> {
        let chunk = file.metadata.row_group(group).column(self.index);
        let bytes = file.chunk(chunk)?;
        check_pages(&bytes)?;
        guarded(|| {
            let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset()) as u64;
            let window = Arc::new(Window { start, bytes: bytes.into() });
            let pages = SerializedPageReader::new(window, chunk, file.group_rows(group), None)?;
            typed::<T>(get_column_reader(self.descriptor.clone(), Box::new(pages)))
        })
    }

    fn undecodable(&self, file: &ParquetFile, group: usize, reason: &str) -> TraceError {
        let (first, end) = (file.first_row(group), file.first_row(group + 1));
        TraceError::at(file.path(), first, format!("column `{}` of rows {first} to {end} {reason}", self.path))
    }
}

/// A column in a row group, decoded piece by piece into the same memory.
pub(super) struct Chunk<'a, T: DataType> {
    column: &'a Column,
    file: &'a ParquetFile,
    group: usize,
    reader: ColumnReaderImpl<T>,
    /// Rows decoded in pieces before.
    taken: usize,
    decoded: Decoded<T::T>,
}

impl<T: DataType> Chunk<'_, T> {
    /// The values of the next `rows` rows, one for each.
    pub fn flat(&mut self, rows: usize) -> Result<&[T::T], TraceError> {
        let first = self.decode(rows)?;
        if self.decoded.values.len() == rows {
            return Ok(&self.decoded.values);
        }
        let full = self.column.descriptor.max_def_level();
        let null = self.decoded.definition.iter().position(|level| *level != full);
        let row = first + null.unwrap_or(self.decoded.values.len()) as u64;
        Err(TraceError::at(self.file.path(), row, format!("`{}` is null", self.column.path)))
    }

    /// The lists of the next `rows` rows one after another; `ends` says where each ends.
    pub fn lists(&mut self, rows: usize, ends: &mut Vec<u32>) -> Result<&[T::T], TraceError> {
        let first = self.decode(rows)?;
        let (full, element) = (self.column.descriptor.max_def_level(), self.column.element_level);
        ends.clear();
        let mut count = 0u32;
        for (definition, repetition) in self.decoded.definition.iter().zip(&self.decoded.repetition) {
            if *repetition == 0 {
                ends.push(count);
            }
            if *definition == full {
                count += 1;
                if let Some(end) = ends.last_mut() {
                    *end = count;
                }
            } else if *definition >= element {
                let row = first + (ends.len() as u64).saturating_sub(1);
                return Err(TraceError::at(self.file.path(), row, format!("`{}` holds a null", self.column.path)));
            }
        }
        if ends.len() != rows || self.decoded.values.len() != count as usize {
            let reason = format!("column `{}` has {} lists for {rows} rows", self.column.path, ends.len());
            return Err(TraceError::at(self.file.path(), first, reason));
        }
        if count as usize > MAX_LIST {
            self.check_lengths(first, ends)?;
        }
        Ok(&self.decoded.values)
    }

    /// Refuses a list that is too long among those that end there.
    fn check_lengths(&self, first: u64, ends: &[u32]) -> Result<(), TraceError> {
        let mut start = 0;
        for (row, &end) in (first..).zip(ends) {
            let length = (end - start) as usize;
            if length > MAX_LIST {
                let reason = too_long(&format!("`{}`", self.column.path), length);
                return Err(TraceError::at(self.file.path(), row, reason));
            }
            start = end;
        }
        Ok(())
    }

    /// Decodes the next `rows` rows; returns the number of the first in the file.
    fn decode(&mut self, rows: usize) -> Result<u64, TraceError> {
        let Self { reader, decoded: Decoded { values, definition, repetition }, .. } = self;
        values.clear();
        definition.clear();
        repetition.clear();
        let read = guarded(|| reader.read_records(rows, Some(definition), Some(repetition), values));
        let first = self.file.first_row(self.group) + self.taken as u64;
        let wrong = match read {
            Ok((read, ..)) if read == rows => {
                self.taken += rows;
                return Ok(first);
            }
            Ok((read, ..)) => format!("has {} rows", self.taken + read),
            Err(reason) => reason,
        };
        Err(self.column.undecodable(self.file, self.group, &wrong))
    }
}

impl Chunk<'_, Int32Type> {
    /// The values of the next `rows` rows with nulls among them.
    pub fn optional(&mut self, rows: usize) -> Result<impl Iterator<Item = Option<i32>>, TraceError> {
        self.decode(rows)?;
        let full = self.column.descriptor.max_def_level();
        let (mut values, mut levels) = (self.decoded.values.iter(), self.decoded.definition.iter());
        Ok((0..rows).map(move |_| match levels.next() {
            Some(level) if *level != full => None,
            _ => values.next().copied(),
        }))
    }
}

/// Existing values, and the levels of all.
struct Decoded<T> {
    values: Vec<T>,
    definition: Vec<i16>,
    repetition: Vec<i16>,
}

fn typed<T: DataType>(reader: ColumnReader) -> Result<ColumnReaderImpl<T>, ParquetError> {
    T::get_column_reader(reader).ok_or_else(|| ParquetError::General("has another type than its schema".to_owned()))
}

/// The content of a column, if it is of a type that traces have.
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
