//! Any Parquet table: can it be decoded?

use std::path::Path;

use super::column::Column;
use super::footer::{MAX_CHUNK_VALUES, ParquetFile};
use crate::TraceError;

/// Decodes all of a Parquet table, which need be no part of a trace. A damaged table may make it fail, and takes no
/// more memory than a large table does.
///
/// # Errors
/// It cannot be read or decoded.
pub fn check_table(path: &Path) -> Result<(), TraceError> {
    let file = ParquetFile::with_groups_of(path, MAX_CHUNK_VALUES)?;
    let columns: Vec<Column> = Column::all(&file).collect();
    (0..file.groups()).try_for_each(|group| columns.iter().try_for_each(|column| column.check(&file, group)))
}
