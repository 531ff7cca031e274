//! The result of a program, and its graph.

use crate::graphs::graph::Graph;

/// Named lists of numbers.
pub type Numbers = Vec<(&'static str, Vec<f64>)>;

/// A number of each vertex, and the rows that it comes from.
pub fn of_vertices(name: &'static str, values: Vec<f64>, rows: &Graph) -> Numbers {
    vec![(name, values), ("offsets", numbers(&rows.offsets)), ("neighbours", numbers(&rows.edges))]
}

/// Whole numbers, of which the largest means that a vertex was not reached.
pub fn reached(values: &[u32]) -> Vec<f64> {
    values.iter().map(|&value| if value == u32::MAX { f64::INFINITY } else { value.into() }).collect()
}

pub fn numbers(values: &[u32]) -> Vec<f64> {
    values.iter().map(|&value| value.into()).collect()
}
