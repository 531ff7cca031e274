//! Graphs and matrices in files: Matrix Market, compressed rows of `NumPy`, METIS, DIMACS, lists of edges.

mod compact;
mod dimacs;
mod edge_list;
mod matrix;
mod matrix_market;
mod metis;
mod npz;
mod numpy;
mod once;
mod text;
mod unpack;
mod zip;

use std::path::Path;

pub use self::matrix::Matrix;
use self::text::Found;
use crate::graphs::edges::{Edges, MOST_ARCS};
use crate::notes;

pub(crate) use self::unpack::read as read_unpacked;

/// A file that is no graph.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file cannot be read.
    #[error("cannot read {file}: {why}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why not.
        why: std::io::Error,
    },
    /// A line of it says something else than a graph's.
    #[error("{file}, line {line}: {message}")]
    Line {
        /// The file.
        file: String,
        /// Which, from 1.
        line: usize,
        /// What was expected and found.
        message: String,
    },
    /// The file as a whole is no graph.
    #[error("{file}: {message}")]
    Whole {
        /// The file.
        file: String,
        /// What was expected and found.
        message: String,
    },
}

/// Vertices without an edge that a file may have, at least: what each costs is memory for nothing. Chosen.
const MOST_ISOLATED: u64 = 1 << 24;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Npz,
    MatrixMarket,
    Metis,
    Dimacs,
    EdgeList,
}

/// Whether a name is that of a file rather than of a graph.
#[must_use]
pub fn is_file(name: &str) -> bool {
    name.contains(['/', std::path::MAIN_SEPARATOR]) || Path::new(name).extension().is_some()
}

/// Reads a graph, plain or packed with gzip or zstd; the format follows from the suffix, or from how the text begins.
/// What is assumed or not used becomes a [note](crate::notes).
///
/// # Errors
/// Files that cannot be read or are no graph, or in which far more vertices than edges are counted.
pub fn read(name: &str) -> Result<Edges, FileError> {
    let bytes = unpacked(name)?;
    let whole = |message: String| FileError::Whole { file: name.to_owned(), message };
    let at = |(line, message)| FileError::Line { file: name.to_owned(), line, message };
    let Found { edges, notes } = match format(name, &bytes)? {
        Format::Npz | Format::MatrixMarket => matrix(name, &bytes)?.graph().map_err(whole)?,
        Format::Metis => metis::parse(text(name, &bytes)?).map_err(at)?,
        Format::Dimacs => dimacs::parse(text(name, &bytes)?).map_err(at)?,
        Format::EdgeList => edge_list::parse(text(name, &bytes)?).map_err(at)?,
    };
    if edges.vertices < 2 || edges.count() == 0 || edges.count() > MOST_ARCS / 2 {
        let found = format!("found {} and {}", edges.vertices, edges.count());
        return Err(whole(format!("expected at least 2 vertices and 1 to 2^31 edges, {found}")));
    }
    let isolated = u64::from(edges.vertices).saturating_sub(2 * edges.count());
    if isolated > MOST_ISOLATED {
        return Err(whole(format!(
            "expected vertices numbered without large gaps: {} vertices and {} edges leave more than {MOST_ISOLATED} \
             vertices without an edge",
            edges.vertices,
            edges.count()
        )));
    }
    notes.iter().for_each(|note| notes::add(name, note));
    Ok(edges)
}

/// Reads a matrix: Matrix Market, or compressed rows or columns of `NumPy`.
///
/// # Errors
/// Files that cannot be read or hold no matrix.
pub fn read_matrix(name: &str) -> Result<Matrix, FileError> {
    let bytes = unpacked(name)?;
    if !matches!(format(name, &bytes)?, Format::Npz | Format::MatrixMarket) {
        let message = "expected a matrix (.mtx or .npz), found a graph".to_owned();
        return Err(FileError::Whole { file: name.to_owned(), message });
    }
    let matrix = matrix(name, &bytes)?;
    let values = (!matrix.values.is_empty()).then_some(matrix::VALUES_NOT_USED);
    matrix.notes.iter().map(String::as_str).chain(values).for_each(|note| notes::add(name, note));
    Ok(matrix)
}

fn unpacked(name: &str) -> Result<Vec<u8>, FileError> {
    unpack::read(name).map_err(|why| FileError::Unreadable { file: name.to_owned(), why })
}

fn text<'a>(name: &str, bytes: &'a [u8]) -> Result<&'a str, FileError> {
    let message = || "expected text, found other bytes".to_owned();
    std::str::from_utf8(bytes).map_err(|_| FileError::Whole { file: name.to_owned(), message: message() })
}

fn matrix(name: &str, bytes: &[u8]) -> Result<Matrix, FileError> {
    if is_archive(bytes) || suffix(name) == "npz" {
        return npz::parse(bytes).map_err(|message| FileError::Whole { file: name.to_owned(), message });
    }
    let parsed = matrix_market::parse(text(name, bytes)?);
    parsed.map_err(|(line, message)| FileError::Line { file: name.to_owned(), line, message })
}

fn suffix(name: &str) -> String {
    let suffix = Path::new(unpack::plain_name(name)).extension().and_then(|suffix| suffix.to_str());
    suffix.unwrap_or_default().to_ascii_lowercase()
}

fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04")
}

/// The format of a file: its suffix says it, or its first line where the suffix leaves it open.
fn format(name: &str, bytes: &[u8]) -> Result<Format, FileError> {
    let begins = |what: &str| bytes.get(..what.len()).is_some_and(|head| head.eq_ignore_ascii_case(what.as_bytes()));
    match suffix(name).as_str() {
        "npz" => Ok(Format::Npz),
        "mtx" => Ok(Format::MatrixMarket),
        "graph" | "metis" | "chaco" => Ok(Format::Metis),
        "gr" | "dimacs" | "col" | "max" => Ok(Format::Dimacs),
        _ if begins("%%MatrixMarket") => Ok(Format::MatrixMarket),
        "" | "txt" | "text" | "csv" | "tsv" | "el" | "wel" | "edges" | "edgelist" | "edge" | "snap" | "net" | "dat" => {
            Ok(if dimacs::is_one(text(name, bytes)?) { Format::Dimacs } else { Format::EdgeList })
        }
        other => Err(FileError::Whole {
            file: name.to_owned(),
            message: format!(
                "expected .mtx, .npz, .graph (METIS), .gr or .col (DIMACS), or .txt, .csv, .tsv, .el, .edges (a list of \
                 edges), each perhaps with .gz or .zst, found `.{other}`"
            ),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(name: &str, bytes: &[u8]) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(name);
        std::fs::write(&file, bytes).expect("a file");
        let name = file.to_str().expect("a name");
        read(name).expect_err("it is no graph").to_string().replace(name, "FILE")
    }

    #[test]
    fn names_with_a_suffix_or_a_folder_are_files() {
        assert!(is_file("a.mtx") && is_file("data/graph") && !is_file("soc-twitter-2010"));
    }

    #[test]
    fn the_suffix_says_the_format_and_none_is_tried_after_it() {
        assert_eq!(format("a.graph.gz", b"").expect("METIS"), Format::Metis);
        assert_eq!(format("a.txt", b"c x\np sp 2 1\n").expect("DIMACS"), Format::Dimacs);
        assert_eq!(format("dir/a", b"%%MatrixMarket").expect("a matrix"), Format::MatrixMarket);
        assert!(error("a.gexf", b"0 1\n").contains("found `.gexf`"));
        assert!(error("a.graph", b"0 1\n1 2\n").starts_with("FILE, line 2"));
    }

    #[test]
    fn errors_name_file_and_line() {
        assert_eq!(error("a.txt", b"0 1\n1 x\n"), "FILE, line 2: expected a vertex, found `x`");
        assert_eq!(error("a.txt", b"0 1\n1\n"), "FILE, line 2: expected a vertex, found the end of the line");
        assert_eq!(
            error("a.txt", b"# nothing\n"),
            "FILE: expected at least 2 vertices and 1 to 2^31 edges, found 0 and 0"
        );
        assert_eq!(error("a.txt", b"\xff\xfe"), "FILE: expected text, found other bytes");
        assert!(read("no/such/file").expect_err("there is none").to_string().starts_with("cannot read no/such/file: "));
    }

    #[test]
    fn a_vertex_far_beyond_the_edges_is_refused_before_any_memory_is_taken() {
        let matrix = "%%MatrixMarket matrix coordinate pattern general\n2000000000 2000000000 1\n1 2\n";
        let message = error("far.mtx", matrix.as_bytes());
        assert!(message.starts_with("FILE: expected vertices numbered without large gaps"), "{message}");
    }
}
