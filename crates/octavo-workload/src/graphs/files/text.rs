//! Numbers in lines of text, and the reader's notes.

use crate::graphs::edges::Edges;

/// The problem with a text, and its line.
pub(super) type Wrong = (usize, String);

/// A graph and what its reader assumed or did not use.
#[derive(Debug, PartialEq)]
pub(super) struct Found {
    pub edges: Edges,
    pub notes: Vec<String>,
}

/// A whole number in a line.
pub(super) fn number(word: Option<&str>, what: &str) -> Result<u64, String> {
    let Some(word) = word else { return Err(format!("expected {what}, found the end of the line")) };
    word.parse().map_err(|_| format!("expected {what}, found `{word}`"))
}

/// A number of any kind in a line.
pub(super) fn value(word: Option<&str>, what: &str) -> Result<f64, String> {
    let Some(word) = word else { return Err(format!("expected {what}, found the end of the line")) };
    word.parse().map_err(|_| format!("expected {what}, found `{word}`"))
}

/// The end of a line.
pub(super) fn end(word: Option<&str>) -> Result<(), String> {
    word.map_or(Ok(()), |word| Err(format!("expected the end of the line, found `{word}`")))
}

/// A vertex from 1 to `vertices`, counted from 0.
pub(super) fn within(vertex: u64, vertices: u64) -> Result<u32, String> {
    if (1..=vertices).contains(&vertex) {
        return Ok((vertex - 1) as u32);
    }
    Err(format!("expected a vertex from 1 to {vertices}, found {vertex}"))
}

/// The number of vertices, at most 2^31.
pub(super) fn vertices(word: Option<&str>) -> Result<u64, String> {
    match number(word, "a number of vertices")? {
        found @ ..=0x8000_0000 => Ok(found),
        found => Err(format!("expected at most 2^31 vertices, found {found}")),
    }
}
