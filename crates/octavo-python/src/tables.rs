//! Result tables as Python values: columns of bytes that NumPy reads as they are, and lists of text.

use octavo_sim::{Column, Table, Values};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

/// Name of a table and its columns.
pub type PyTable = (&'static str, Vec<PyColumn>);
/// Name, kind (`u64`, `f64`, `text`, `category`), values and, for a category, the names of its codes.
pub type PyColumn = (&'static str, &'static str, Py<PyAny>, Vec<&'static str>);

pub fn to_python(py: Python<'_>, table: Table) -> PyTable {
    (table.name, table.columns.into_iter().map(|column| column_to_python(py, column)).collect())
}

fn column_to_python(py: Python<'_>, column: Column) -> PyColumn {
    let name = column.name;
    match column.values {
        Values::U64(values) => (name, "u64", little_endian(py, values.iter().map(|value| value.to_le_bytes())), vec![]),
        Values::F64(values) => (name, "f64", little_endian(py, values.iter().map(|value| value.to_le_bytes())), vec![]),
        Values::Category { codes, names } => (name, "category", PyBytes::new(py, &codes).into_any().unbind(), names),
        Values::Text(values) => {
            let list = PyList::new(py, values).expect("a list of known length");
            (name, "text", list.into_any().unbind(), vec![])
        }
    }
}

fn little_endian<const N: usize>(py: Python<'_>, values: impl Iterator<Item = [u8; N]>) -> Py<PyAny> {
    let bytes: Vec<u8> = values.flatten().collect();
    PyBytes::new(py, &bytes).into_any().unbind()
}
