//! Samples as a Parquet table.

use std::fs::File;
use std::sync::Arc;

use octavo_gpu::Column;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

/// Writes columns by name; any value may be missing.
pub fn write(file: &File, columns: Vec<(&str, Column)>) -> Result<(), ParquetError> {
    let fields: String = columns.iter().map(|(name, column)| field(name, column)).collect();
    let schema = Arc::new(parse_message_type(&format!("message samples {{ {fields} }}"))?);
    let compression = Compression::ZSTD(ZstdLevel::default());
    let properties = WriterProperties::builder()
        .set_created_by(concat!("octavo ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(compression)
        .build();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for (_, column) in columns {
        match column {
            Column::Integers(values) => put::<Int64Type, _>(&mut group, values, |value| value)?,
            Column::Numbers(values) => put::<DoubleType, _>(&mut group, values, |value| value)?,
            Column::Words(values) => {
                put::<ByteArrayType, _>(&mut group, values, |value| ByteArray::from(value.into_bytes()))?
            }
        }
    }
    group.close()?;
    writer.close().map(drop)
}

fn field(name: &str, column: &Column) -> String {
    match column {
        Column::Integers(_) => format!("optional int64 {name};"),
        Column::Numbers(_) => format!("optional double {name};"),
        Column::Words(_) => format!("optional binary {name} (STRING);"),
    }
}

fn put<T: DataType, V>(
    group: &mut SerializedRowGroupWriter<'_, &File>,
    values: Vec<Option<V>>,
    stored: impl Fn(V) -> T::T,
) -> Result<(), ParquetError> {
    let present: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<T::T> = values.into_iter().flatten().map(stored).collect();
    let mut column = group.next_column()?.expect("the schema has as many columns as the samples");
    column.typed::<T>().write_batch(&values, Some(&present), None)?;
    column.close()
}

#[cfg(test)]
mod tests {
    use octavo_gpu::Column;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    use super::write;

    #[test]
    fn what_is_written_is_read_again_and_what_is_missing_is_missing() {
        let columns = vec![
            ("series", Column::Words(vec![Some("copy".to_owned()), None])),
            ("size", Column::Integers(vec![None, Some(4096)])),
            ("seconds", Column::Numbers(vec![Some(0.5), None])),
        ];
        let file = tempfile::tempfile().unwrap();
        write(&file, columns).unwrap();
        let rows: Vec<Vec<(String, Field)>> = SerializedFileReader::new(file)
            .unwrap()
            .get_row_iter(None)
            .unwrap()
            .map(|row| row.unwrap().into_columns())
            .collect();
        let named = |name: &str, field| (name.to_owned(), field);
        let first = [Field::Str("copy".to_owned()), Field::Null, Field::Double(0.5)];
        let second = [Field::Null, Field::Long(4096), Field::Null];
        let row = |fields: [Field; 3]| {
            ["series", "size", "seconds"].into_iter().zip(fields).map(|(n, f)| named(n, f)).collect::<Vec<_>>()
        };
        assert_eq!(rows, [row(first), row(second)]);
    }

    #[test]
    fn a_table_without_rows_has_its_columns() {
        let file = tempfile::tempfile().unwrap();
        write(&file, vec![("series", Column::Words(Vec::new()))]).unwrap();
        let metadata = SerializedFileReader::new(file).unwrap();
        assert_eq!(metadata.metadata().file_metadata().num_rows(), 0);
        assert_eq!(metadata.metadata().file_metadata().schema_descr().column(0).name(), "series");
    }
}
