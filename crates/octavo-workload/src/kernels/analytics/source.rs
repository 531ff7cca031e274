//! Where a search begins.

use octavo_registry::OptionError;

use crate::graphs::graph::Graph;

/// The vertex that was given, otherwise the first of those with most edges.
///
/// # Errors
/// A vertex that the graph does not have.
pub fn chosen(given: Option<u64>, graph: &Graph) -> Result<u32, OptionError> {
    let vertices = graph.nodes();
    match given {
        Some(source) if source >= u64::from(vertices) => {
            Err(OptionError::new("source", format!("expected a vertex from 0 to {}, found {source}", vertices - 1)))
        }
        Some(source) => Ok(source as u32),
        None => Ok((0..vertices).rev().max_by_key(|&vertex| graph.row(vertex).len()).unwrap_or_default()),
    }
}
