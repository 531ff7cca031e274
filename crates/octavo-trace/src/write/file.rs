//! A Parquet file of a trace, written row group by row group.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use crate::schema::{KEY_COMMAND, KEY_LANES, KEY_SOURCE, KEY_VERSION, Version};
use crate::{Header, TraceError};

/// Higher levels make traces hardly smaller and are much slower to write.
const ZSTD_LEVEL: i32 = 6;

/// A file under construction.
pub(super) struct ParquetFile {
    path: PathBuf,
    writer: SerializedFileWriter<File>,
}

/// A row group under construction; columns are written in the order of the schema.
pub(super) struct RowGroup<'a> {
    writer: SerializedRowGroupWriter<'a, File>,
}

impl ParquetFile {
    /// A file whose columns named in `deltas` store differences; all others use dictionaries.
    pub fn create(path: &Path, schema: &str, deltas: &[&[&str]]) -> Result<Self, TraceError> {
        let wrong = |error: ParquetError| failed(path, &error);
        let schema = Arc::new(parse_message_type(schema).map_err(wrong)?);
        let mut properties = properties().map_err(wrong)?;
        for column in deltas {
            let column = ColumnPath::new(column.iter().map(|part| (*part).to_owned()).collect());
            properties = properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
        }
        let file = File::create(path).map_err(|error| TraceError::new(path, format!("cannot be written: {error}")))?;
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties.build())).map_err(wrong)?;
        Ok(Self { path: path.to_owned(), writer })
    }

    /// Writes one row group with all its columns.
    pub fn row_group(
        &mut self,
        fill: impl FnOnce(&mut RowGroup<'_>) -> Result<(), ParquetError>,
    ) -> Result<(), TraceError> {
        let write = |writer: &mut SerializedFileWriter<File>| {
            let mut group = RowGroup { writer: writer.next_row_group()? };
            fill(&mut group)?;
            group.writer.close().map(drop)
        };
        write(&mut self.writer).map_err(|error| failed(&self.path, &error))
    }

    /// Writes the footer, with the metadata of a trace.
    pub fn finish(&mut self, header: &Header, version: Version) -> Result<(), TraceError> {
        let pairs = [
            (KEY_VERSION, version.name().to_owned()),
            (KEY_LANES, header.lanes.to_string()),
            (KEY_SOURCE, header.source.clone()),
            (KEY_COMMAND, header.command.clone()),
        ];
        for (key, value) in pairs {
            self.writer.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
        }
        self.writer.finish().map(drop).map_err(|error| failed(&self.path, &error))
    }
}

impl RowGroup<'_> {
    /// Writes the next column, with its levels where it is optional or repeated.
    pub fn column<T: DataType>(
        &mut self,
        values: &[T::T],
        definition: Option<&[i16]>,
        repetition: Option<&[i16]>,
    ) -> Result<(), ParquetError> {
        let column = self.writer.next_column()?;
        let mut column = column.ok_or_else(|| ParquetError::General("the schema has no more columns".to_owned()))?;
        column.typed::<T>().write_batch(values, definition, repetition)?;
        column.close()
    }
}

fn properties() -> Result<WriterPropertiesBuilder, ParquetError> {
    Ok(WriterProperties::builder()
        .set_created_by(concat!("octavo ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
        // Pages of version 2 do not compress the levels of lists, which are a third of a trace.
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true))
}

fn failed(path: &Path, error: &ParquetError) -> TraceError {
    TraceError::new(path, format!("cannot be written: {error}"))
}
