//! Graphs in files: Matrix Market, compressed rows of `NumPy`, lists of edges.

mod edge_list;
mod matrix_market;
mod npz;
mod numpy;
mod text;
mod zip;

use std::path::Path;

use crate::graphs::edges::{Edges, MOST_ARCS};

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

/// Whether a name is that of a file rather than of a graph.
#[must_use]
pub fn is_file(name: &str) -> bool {
    name.contains(['/', std::path::MAIN_SEPARATOR]) || Path::new(name).extension().is_some()
}

/// Reads a graph; the format follows from the suffix.
///
/// # Errors
/// Files that cannot be read or are no graph, or in which far more vertices than edges are counted.
pub fn read(name: &str) -> Result<Edges, FileError> {
    let bytes = std::fs::read(name).map_err(|why| FileError::Unreadable { file: name.to_owned(), why })?;
    let suffix = Path::new(name).extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
    let whole = |message: String| FileError::Whole { file: name.to_owned(), message };
    let edges = if suffix.eq_ignore_ascii_case("npz") {
        npz::parse(&bytes).map_err(whole)?
    } else {
        let text = std::str::from_utf8(&bytes).map_err(|_| whole("expected text, found other bytes".to_owned()))?;
        let is_matrix = suffix.eq_ignore_ascii_case("mtx") || text.starts_with("%%MatrixMarket");
        let parsed = if is_matrix { matrix_market::parse(text) } else { edge_list::parse(text) };
        parsed.map_err(|(line, message)| FileError::Line { file: name.to_owned(), line, message })?
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
    Ok(edges)
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
        for (name, text) in [("far.txt", "0 1\n1 2000000000\n"), ("far.mtx", matrix)] {
            let message = error(name, text.as_bytes());
            assert!(message.starts_with("FILE: expected vertices numbered without large gaps"), "{message}");
        }
    }
}
