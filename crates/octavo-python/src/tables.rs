//! Result tables as Python values: columns of bytes that NumPy reads directly, and lists of text.

use octavo_sim::{Column, Table, Values};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

/// Name of a table and its columns.
pub type PyTable = (&'static str, Vec<PyColumn>);
/// Name, kind (`u64`, `f64`, `text`, `category`), values and, for a category, the names of its codes.
pub type PyColumn = (&'static str, &'static str, Py<PyAny>, Vec<&'static str>);

/// Columns of a table, each given up when Python has it.
///
/// # Errors
/// Python has no memory for them.
pub fn to_python(py: Python<'_>, table: Table) -> PyResult<PyTable> {
    let columns: PyResult<_> = table.columns.into_iter().map(|column| column_to_python(py, column)).collect();
    Ok((table.name, columns?))
}

fn column_to_python(py: Python<'_>, column: Column) -> PyResult<PyColumn> {
    let name = column.name;
    Ok(match column.values {
        Values::U64(values) => (name, "u64", little_endian(py, &values, |value| value.to_le_bytes())?, vec![]),
        Values::F64(values) => (name, "f64", little_endian(py, &values, |value| value.to_le_bytes())?, vec![]),
        Values::Category { codes, names } => (name, "category", bytes(py, &codes)?, names),
        Values::Text(values) => (name, "text", PyList::new(py, values)?.into_any().unbind(), vec![]),
        Values::Rounds { round, rounds } => {
            // One string of Python's for all rows that have it.
            let round: Vec<_> = round.iter().map(|text| PyString::new(py, text)).collect();
            let rows = round.len() * rounds;
            let list = PyList::new(py, (0..rows).map(|row| &round[row % round.len()]))?;
            (name, "text", list.into_any().unbind(), vec![])
        }
    })
}

fn bytes(py: Python<'_>, values: &[u8]) -> PyResult<Py<PyAny>> {
    let filled = PyBytes::new_with(py, values.len(), |target| {
        target.copy_from_slice(values);
        Ok(())
    });
    Ok(filled?.into_any().unbind())
}

fn little_endian<T: Copy, const N: usize>(py: Python<'_>, values: &[T], of: fn(T) -> [u8; N]) -> PyResult<Py<PyAny>> {
    let filled = PyBytes::new_with(py, values.len() * N, |target| {
        target.chunks_exact_mut(N).zip(values).for_each(|(place, value)| place.copy_from_slice(&of(*value)));
        Ok(())
    });
    Ok(filled?.into_any().unbind())
}
