//! Result tables as Parquet files, written without a library of Python's: importing one takes longer than a short run.

use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

/// The same as the library's default: tables of large runs hardly shrink beyond it.
const ZSTD_LEVEL: i32 = 3;
/// Values that are converted at a time, so that no column is in memory twice; our choice.
const BATCH: usize = 1 << 16;
/// Bytes of a number in a column.
const NUMBER: usize = 8;

/// Name, kind, values and names of codes of a column, as `tables::PyColumn`.
type Column<'py> = (String, String, Bound<'py, PyAny>, Vec<String>);

/// A table of columns as `run` returns them, as the bytes of a Parquet file. Categories become text. The list of columns
/// is empty afterwards: each is given up when it is written.
///
/// # Errors
/// A column is of no known kind, or is not as long as the others.
#[pyfunction]
pub fn table_bytes<'py>(py: Python<'py>, columns: &Bound<'py, PyList>) -> PyResult<Bound<'py, PyBytes>> {
    let mut fields = String::new();
    for column in columns.iter() {
        let (name, kind, ..): Column<'_> = column.extract()?;
        fields += &field(&name, &kind)?;
    }
    let mut file = Vec::new();
    let mut writer = open(&mut file, &fields).map_err(wrong)?;
    let mut group = writer.next_row_group().map_err(wrong)?;
    while !columns.is_empty() {
        let column: Column<'_> = columns.get_item(0)?.extract()?;
        columns.del_item(0)?;
        put(py, &mut group, &column)?;
    }
    group.close().map_err(wrong)?;
    writer.close().map_err(wrong)?;
    Ok(PyBytes::new(py, &file))
}

fn field(name: &str, kind: &str) -> PyResult<String> {
    Ok(match kind {
        "u64" => format!("required int64 {name} (INTEGER(64,false)); "),
        "f64" => format!("required double {name}; "),
        "text" | "category" => format!("required binary {name} (STRING); "),
        _ => return Err(PyValueError::new_err(format!("column {name}: unknown kind {kind}"))),
    })
}

fn open<'a>(file: &'a mut Vec<u8>, fields: &str) -> Result<SerializedFileWriter<&'a mut Vec<u8>>, ParquetError> {
    let schema = parse_message_type(&format!("message table {{ {fields} }}"))?;
    let properties = WriterProperties::builder()
        .set_created_by(concat!("octavo ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .build();
    SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))
}

fn put(
    py: Python<'_>,
    group: &mut SerializedRowGroupWriter<'_, &mut Vec<u8>>,
    (_, kind, values, names): &Column<'_>,
) -> PyResult<()> {
    match kind.as_str() {
        "text" => return put_text(group, values.cast::<PyList>()?),
        "category" => {
            let names: Vec<ByteArray> = names.iter().map(|name| name.as_str().into()).collect();
            let codes = values.cast::<PyBytes>()?.as_bytes();
            py.detach(|| batches::<ByteArrayType, 1>(group, codes, |[code]| names[usize::from(code)].clone()))
        }
        "f64" => {
            let values = values.cast::<PyBytes>()?.as_bytes();
            py.detach(|| batches::<DoubleType, NUMBER>(group, values, f64::from_le_bytes))
        }
        _ => {
            let values = values.cast::<PyBytes>()?.as_bytes();
            py.detach(|| batches::<Int64Type, NUMBER>(group, values, i64::from_le_bytes))
        }
    }
    .map_err(wrong)
}

/// The next column, of values that are `SIZE` bytes long.
fn batches<T: DataType, const SIZE: usize>(
    group: &mut SerializedRowGroupWriter<'_, &mut Vec<u8>>,
    values: &[u8],
    of: impl Fn([u8; SIZE]) -> T::T,
) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.expect("the schema has as many columns as the table");
    for part in values.as_chunks::<SIZE>().0.chunks(BATCH) {
        let part: Vec<T::T> = part.iter().map(|value| of(*value)).collect();
        column.typed::<T>().write_batch(&part, None, None)?;
    }
    column.close()
}

/// The next column, of text.
fn put_text(group: &mut SerializedRowGroupWriter<'_, &mut Vec<u8>>, values: &Bound<'_, PyList>) -> PyResult<()> {
    let column = group.next_column().map_err(wrong)?;
    let mut column = column.expect("the schema has as many columns as the table");
    for start in (0..values.len()).step_by(BATCH) {
        let part = values.get_slice(start, start + BATCH);
        let part: PyResult<Vec<ByteArray>> =
            part.iter().map(|text| Ok(ByteArray::from(text.extract::<String>()?.into_bytes()))).collect();
        column.typed::<ByteArrayType>().write_batch(&part?, None, None).map_err(wrong)?;
    }
    column.close().map_err(wrong)
}

#[expect(clippy::needless_pass_by_value, reason = "used as a function of errors")]
fn wrong(error: ParquetError) -> PyErr {
    PyValueError::new_err(format!("the table cannot be written: {error}"))
}
