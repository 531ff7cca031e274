//! Some rows of a trace, for display.

use std::path::Path;

use serde::Serialize;

use crate::{Key, Row, Touched, TraceError, TraceReader};

/// Which rows are wanted; those that match all given values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only rows of this launch.
    pub launch: Option<u32>,
    /// Only rows of this work-group, of any launch.
    pub group: Option<u32>,
    /// Only rows of this wavefront of a work-group.
    pub wavefront: Option<u16>,
}

impl Filter {
    fn matches(&self, key: Key) -> bool {
        self.launch.is_none_or(|launch| launch == key.launch)
            && self.group.is_none_or(|group| group == key.group)
            && self.wavefront.is_none_or(|wavefront| wavefront == key.wavefront)
    }

    /// Whether all that matches comes before `key`.
    fn is_past(&self, key: Key) -> bool {
        let Some(launch) = self.launch else { return false };
        key.launch > launch || key.launch == launch && self.group.is_some_and(|group| key.group > group)
    }

    /// Whether all that matches comes after `key`.
    fn is_before(&self, key: Key) -> bool {
        let Some(launch) = self.launch else { return false };
        key.launch < launch || key.launch == launch && self.group.is_some_and(|group| key.group < group)
    }
}

/// A row on its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowView {
    /// Number of the row, from 0.
    pub row: u64,
    /// Index into the launch table.
    pub launch: u32,
    /// Work-group.
    pub group: u32,
    /// Wavefront within the work-group.
    pub wavefront: u16,
    /// Position within the wavefront.
    pub sequence: u32,
    /// What it is.
    pub kind: &'static str,
    /// Lines of code reached for the first time since the row before.
    pub code_lines: Vec<u64>,
    /// Bytes that each lane moves.
    pub bytes: u16,
    /// Active lanes.
    pub lanes: u8,
    /// Lines touched, if they are recorded.
    pub lines: Vec<u64>,
    /// Addresses of lanes, if they are recorded.
    pub addresses: Vec<u64>,
    /// Positions of lines that a store does not fill.
    pub partial: Vec<u64>,
    /// Vector-ALU instructions since the row before.
    pub vector_alu: u32,
    /// Scalar-ALU and other instructions since the row before.
    pub scalar_alu: u32,
    /// Local-data-share instructions since the row before.
    pub local_data: u32,
    /// Branches since the row before.
    pub branch: u32,
    /// Vector memory instructions that may stay outstanding.
    pub vector_wait: Option<u8>,
    /// Scalar and local-data instructions that may stay outstanding.
    pub scalar_wait: Option<u8>,
}

impl RowView {
    fn new(number: u64, row: &Row<'_>) -> Self {
        let (lines, addresses) = match row.touched {
            Touched::Lines(lines) => (lines.to_vec(), Vec::new()),
            Touched::Addresses(addresses) => (Vec::new(), addresses.to_vec()),
        };
        Self {
            row: number,
            launch: row.key.launch,
            group: row.key.group,
            wavefront: row.key.wavefront,
            sequence: row.key.sequence,
            kind: row.kind.name(),
            code_lines: row.code_lines.to_vec(),
            bytes: row.bytes,
            lanes: row.lanes,
            lines,
            addresses,
            partial: row.partial.to_vec(),
            vector_alu: row.counts.vector_alu,
            scalar_alu: row.counts.scalar_alu,
            local_data: row.counts.local_data,
            branch: row.counts.branch,
            vector_wait: row.vector_wait,
            scalar_wait: row.scalar_wait,
        }
    }
}

/// The first `count` rows of the trace `path` that match.
///
/// # Errors
/// What is looked at cannot be read.
pub fn head(path: &Path, filter: Filter, count: usize) -> Result<Vec<RowView>, TraceError> {
    let reader = TraceReader::open(path)?;
    let mut found = Vec::new();
    for group in 0..reader.row_groups() {
        let next = if group + 1 < reader.row_groups() { reader.first_key(group + 1)? } else { None };
        if next.is_some_and(|next| filter.is_before(next)) {
            continue;
        }
        for (index, row) in reader.rows(group)?.iter().enumerate() {
            if found.len() == count || filter.is_past(row.key) {
                return Ok(found);
            }
            if filter.matches(row.key) {
                found.push(RowView::new(reader.first_row(group) + index as u64, &row));
            }
        }
    }
    Ok(found)
}
