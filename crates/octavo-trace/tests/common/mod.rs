//! Helpers that tests of conversions share.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use octavo_trace::{Row, TraceReader, validate};

/// A folder that is removed at the end.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new(name: &str) -> Self {
        Self(tempfile::Builder::new().prefix(&format!("octavo-{name}-")).tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }
}

/// Every row of a valid trace as text, with line numbers relative to `base`.
pub fn rows(path: &Path, base: u64) -> String {
    let trace = TraceReader::open(path).unwrap();
    assert_eq!(validate(path), Ok(trace.row_count()));
    let mut text = String::new();
    for group in 0..trace.row_groups() {
        trace.rows(group).unwrap().iter().for_each(|row| describe(&row, base / 64, &mut text));
    }
    text
}

fn describe(row: &Row<'_>, base: u64, text: &mut String) {
    let key = row.key;
    write!(text, "{} {} {} {} {}", key.launch, key.group, key.wavefront, key.sequence, row.kind.name()).unwrap();
    if row.kind.is_memory() {
        write!(text, " {}x{}", row.bytes, row.lanes).unwrap();
    }
    let lines: Vec<_> = row.touched.values().iter().map(|line| line.wrapping_sub(base).to_string()).collect();
    if !lines.is_empty() {
        write!(text, " {}", lines.join(",")).unwrap();
    }
    let counts = row.counts;
    for (name, count) in
        [("v", counts.vector_alu), ("s", counts.scalar_alu), ("l", counts.local_data), ("b", counts.branch)]
    {
        if count > 0 {
            write!(text, " {name}{count}").unwrap();
        }
    }
    for (name, wait) in [("vector", row.vector_wait), ("scalar", row.scalar_wait)] {
        if let Some(wait) = wait {
            write!(text, " {name} {wait}").unwrap();
        }
    }
    text.push('\n');
}
