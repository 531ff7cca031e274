//! Footers of Parquet files: read, bounded, checked against their file.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use parquet::file::metadata::{ColumnChunkMetaData, KeyValue, ParquetMetaData, ParquetMetaDataReader};

use super::compact::{Compact, kind};
use super::guard::guarded;
use crate::TraceError;
use crate::schema::MAX_GROUP_ROWS;

/// Values of a column in a row group, at most: every lane of every row touching two lines.
pub(super) const MAX_CHUNK_VALUES: u64 = 128 * MAX_GROUP_ROWS as u64;
/// Bytes of a column in a row group, at most: eight bytes for each value.
pub(super) const MAX_CHUNK_BYTES: u64 = 8 * MAX_CHUNK_VALUES;
/// Footers of billions of rows stay below this.
const MAX_FOOTER_BYTES: u64 = 64 << 20;
/// Columns and groups of columns, at most: chosen, far more than traces with additional columns have.
const MAX_SCHEMA_ELEMENTS: u64 = 256;
const MAGIC: &[u8] = b"PAR1";
/// Footer length and magic.
const TAIL: u64 = 8;

/// An open Parquet file whose footer makes sense.
pub(super) struct ParquetFile {
    path: PathBuf,
    file: Mutex<File>,
    pub metadata: ParquetMetaData,
    /// First row of each row group, and the number of rows at the end.
    starts: Vec<u64>,
}

impl ParquetFile {
    /// One of a trace.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        Self::with_groups_of(path, MAX_GROUP_ROWS as u64)
    }

    /// A file whose row groups have at most this many rows.
    pub fn with_groups_of(path: &Path, most_rows: u64) -> Result<Self, TraceError> {
        let wrong = |reason: String| TraceError::new(path, reason);
        let mut file = File::open(path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
        let footer = read_footer(&mut file).map_err(wrong)?;
        check_footer(&footer).map_err(|reason| wrong(format!("footer {reason}")))?;
        let metadata = guarded(|| ParquetMetaDataReader::decode_metadata(&footer))
            .map_err(|reason| wrong(format!("footer: {reason}")))?;
        let length = file.metadata().map_err(|error| wrong(format!("cannot be read: {error}")))?.len();
        let starts = check_groups(&metadata, length, most_rows).map_err(wrong)?;
        Ok(Self { path: path.to_owned(), file: Mutex::new(file), metadata, starts })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn groups(&self) -> usize {
        self.metadata.num_row_groups()
    }

    /// Rows of the whole file.
    pub fn rows(&self) -> u64 {
        self.first_row(self.groups())
    }

    /// First row of a row group.
    pub fn first_row(&self, group: usize) -> u64 {
        self.starts[group]
    }

    /// Rows of a row group.
    pub fn group_rows(&self, group: usize) -> usize {
        (self.starts[group + 1] - self.starts[group]) as usize
    }

    /// A value of the file's metadata.
    pub fn value(&self, key: &str) -> Option<&str> {
        let pairs: &[KeyValue] = self.metadata.file_metadata().key_value_metadata().map_or(&[], Vec::as_slice);
        pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
    }

    /// The bytes of a column chunk.
    pub fn chunk(&self, chunk: &ColumnChunkMetaData) -> Result<Vec<u8>, String> {
        let (start, length) = range(chunk)?;
        let mut bytes = vec![0; length as usize];
        let mut file = self.file.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let read = file.seek(SeekFrom::Start(start)).and_then(|_| file.read_exact(&mut bytes));
        read.map_err(|error| format!("cannot be read: {error}"))?;
        Ok(bytes)
    }
}

/// The bytes between the last row group and the tail.
fn read_footer(file: &mut File) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| format!("cannot be read: {error}");
    let length = file.seek(SeekFrom::End(0)).map_err(failed)?;
    if length < TAIL + MAGIC.len() as u64 {
        return Err(format!("is no Parquet file: it has {length} bytes"));
    }
    let mut tail = [0; TAIL as usize];
    file.seek(SeekFrom::Start(length - TAIL)).and_then(|_| file.read_exact(&mut tail)).map_err(failed)?;
    let (size, magic) = tail.split_at(4);
    if magic != MAGIC {
        return Err("is no Parquet file, or was cut off: its last four bytes are not `PAR1`".to_owned());
    }
    let size = u64::from(u32::from_le_bytes([size[0], size[1], size[2], size[3]]));
    if size + TAIL > length {
        return Err(format!("its footer claims {size} bytes of {length}"));
    }
    if size > MAX_FOOTER_BYTES {
        let holds = "which describes row groups and has the metadata";
        return Err(format!("its footer, {holds}, has {size} bytes, expected at most {MAX_FOOTER_BYTES}"));
    }
    let mut footer = vec![0; size as usize];
    file.seek(SeekFrom::Start(length - TAIL - size)).and_then(|_| file.read_exact(&mut footer)).map_err(failed)?;
    Ok(footer)
}

/// Walks over the whole footer, so that later decoders meet no absurd length and no deep nesting.
fn check_footer(footer: &[u8]) -> Result<(), &'static str> {
    Compact::new(footer).fields(|reader, field, kind| {
        if (field, kind) == (2, kind::LIST) {
            // A group of columns is followed by its parts: as many elements as it may be nested deep.
            let (kind, count) = reader.list()?;
            if count > MAX_SCHEMA_ELEMENTS {
                return Err("has too many columns");
            }
            return (0..count).try_for_each(|_| reader.skip(kind));
        }
        reader.skip(kind)
    })
}

/// Checks the claims of row groups; returns the first row of each and the number of rows.
fn check_groups(metadata: &ParquetMetaData, length: u64, most_rows: u64) -> Result<Vec<u64>, String> {
    let mut starts = vec![0];
    for (index, group) in metadata.row_groups().iter().enumerate() {
        let rows = u64::try_from(group.num_rows()).unwrap_or(u64::MAX);
        if rows > most_rows {
            return Err(format!("row group {index} claims {} rows, expected at most {most_rows}", group.num_rows()));
        }
        for chunk in group.columns() {
            check_chunk(chunk, length)
                .map_err(|reason| format!("row group {index}, column `{}` {reason}", chunk.column_path().string()))?;
        }
        starts.push(starts[index] + rows);
    }
    let (found, expected) = (starts.last().copied().unwrap_or(0), metadata.file_metadata().num_rows());
    if i64::try_from(found) != Ok(expected) {
        return Err(format!("claims {expected} rows, but its row groups have {found}"));
    }
    Ok(starts)
}

fn check_chunk(chunk: &ColumnChunkMetaData, length: u64) -> Result<(), String> {
    let (start, size) = range(chunk)?;
    if start.checked_add(size).is_none_or(|end| end > length) {
        return Err(format!("claims {size} bytes at {start} of a file of {length}"));
    }
    let values = chunk.num_values();
    if u64::try_from(values).map_or(true, |values| values > MAX_CHUNK_VALUES) {
        return Err(format!("claims {values} values, expected at most {MAX_CHUNK_VALUES}"));
    }
    Ok(())
}

/// The place of a column chunk in the file.
fn range(chunk: &ColumnChunkMetaData) -> Result<(u64, u64), String> {
    let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
    let size = chunk.compressed_size();
    match (u64::try_from(start), u64::try_from(size)) {
        (Ok(start), Ok(size)) if size <= MAX_CHUNK_BYTES => Ok((start, size)),
        _ => Err(format!("claims {size} bytes at {start}, expected at most {MAX_CHUNK_BYTES}")),
    }
}
