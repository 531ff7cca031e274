//! Rows sorted with bounded memory: runs that fit in memory, kept in unnamed files, then merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use super::ConvertError;
use crate::{Counts, Key, Kind, Row, Touched};

/// Bytes of a run: rows are sorted in memory up to here.
const RUN_BYTES: usize = 64 << 20;
/// Runs that are merged at once; more are merged in turns.
const MERGED: usize = 64;
/// Lines of a row, at most: 32 lanes of 32 bytes that straddle lines touch fewer.
const MAX_LINES: usize = 1 << 10;
/// Set in the number of a line that the row's store does not fill; lines are numbered with 58 bits.
const PARTIAL: u64 = 1 << 63;
/// Bytes of a record before its lines: key, kind, lanes, bytes, counts, waits, number of lines.
const FIXED: usize = 32 + 1 + 1 + 2 + 16 + 4 + 2;

/// The sort keys of rows, in turn; no two rows have the same.
pub(super) type SortKey = [u64; 4];

/// Takes rows in any order and gives them back sorted. The key of a row is not kept.
pub(super) struct Sorter {
    folder: PathBuf,
    run_bytes: usize,
    records: Vec<u8>,
    /// Key and start of each record.
    index: Vec<(SortKey, usize)>,
    runs: Vec<File>,
}

impl Sorter {
    /// Spills into unnamed files in `folder`.
    pub fn new(folder: &Path) -> Self {
        Self::with_run_bytes(folder, RUN_BYTES)
    }

    fn with_run_bytes(folder: &Path, run_bytes: usize) -> Self {
        Self { folder: folder.to_owned(), run_bytes, records: Vec::new(), index: Vec::new(), runs: Vec::new() }
    }

    pub fn push(&mut self, key: SortKey, row: &Row<'_>) -> Result<(), ConvertError> {
        self.index.push((key, self.records.len()));
        encode(key, row, &mut self.records);
        if self.records.len() + self.index.len() * size_of::<(SortKey, usize)>() >= self.run_bytes {
            self.spill().map_err(|error| self.failed(&error))?;
        }
        Ok(())
    }

    /// Gives every row to `take`, sorted, and is empty again.
    pub fn drain(
        &mut self,
        mut take: impl FnMut(SortKey, Row<'_>) -> Result<(), ConvertError>,
    ) -> Result<(), ConvertError> {
        if !self.runs.is_empty() {
            self.spill().map_err(|error| self.failed(&error))?;
            let runs = std::mem::take(&mut self.runs);
            return self.merge(runs, take);
        }
        self.index.sort_unstable();
        let mut record = Record::default();
        for (_, start) in &self.index {
            let read = record.read(&mut &self.records[*start..]);
            read.map_err(|error| self.failed(&error))?;
            take(record.key, record.row())?;
        }
        self.clear();
        Ok(())
    }

    fn clear(&mut self) {
        self.records.clear();
        self.index.clear();
    }

    fn spill(&mut self) -> io::Result<()> {
        self.index.sort_unstable();
        let mut file = BufWriter::new(tempfile::tempfile_in(&self.folder)?);
        for (_, start) in &self.index {
            let length = record_length(&self.records[*start..]);
            file.write_all(&self.records[*start..*start + length])?;
        }
        self.runs.push(rewound(file)?);
        self.clear();
        if self.runs.len() == MERGED {
            let runs = std::mem::take(&mut self.runs);
            let joined = self.join(runs)?;
            self.runs.push(joined);
        }
        Ok(())
    }

    /// Many runs become one.
    fn join(&self, runs: Vec<File>) -> io::Result<File> {
        let mut file = BufWriter::new(tempfile::tempfile_in(&self.folder)?);
        let mut bytes = Vec::new();
        let mut merge = Merge::new(runs)?;
        while let Some(record) = merge.next()? {
            bytes.clear();
            encode(record.key, &record.row(), &mut bytes);
            file.write_all(&bytes)?;
        }
        rewound(file)
    }

    fn merge(
        &self,
        runs: Vec<File>,
        mut take: impl FnMut(SortKey, Row<'_>) -> Result<(), ConvertError>,
    ) -> Result<(), ConvertError> {
        let failed = |error: io::Error| self.failed(&error);
        let mut merge = Merge::new(runs).map_err(failed)?;
        while let Some(record) = merge.next().map_err(failed)? {
            take(record.key, record.row())?;
        }
        Ok(())
    }

    fn failed(&self, error: &io::Error) -> ConvertError {
        ConvertError::file(&self.folder, format!("rows cannot be sorted in files there: {error}"))
    }
}

fn rewound(file: BufWriter<File>) -> io::Result<File> {
    let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.rewind()?;
    Ok(file)
}

/// Sorted runs, read side by side.
struct Merge {
    readers: Vec<BufReader<File>>,
    records: Vec<Record>,
    /// The next key of each run that has one.
    heads: BinaryHeap<Reverse<(SortKey, usize)>>,
    /// The run whose record was returned last.
    given: Option<usize>,
}

impl Merge {
    fn new(runs: Vec<File>) -> io::Result<Self> {
        let readers: Vec<_> = runs.into_iter().map(BufReader::new).collect();
        let records = readers.iter().map(|_| Record::default()).collect();
        let mut merge = Self { readers, records, heads: BinaryHeap::new(), given: None };
        for run in 0..merge.readers.len() {
            merge.refill(run)?;
        }
        Ok(merge)
    }

    fn next(&mut self) -> io::Result<Option<&Record>> {
        if let Some(run) = self.given.take() {
            self.refill(run)?;
        }
        let Some(Reverse((_, run))) = self.heads.pop() else { return Ok(None) };
        self.given = Some(run);
        Ok(Some(&self.records[run]))
    }

    fn refill(&mut self, run: usize) -> io::Result<()> {
        if self.records[run].read(&mut self.readers[run])? {
            self.heads.push(Reverse((self.records[run].key, run)));
        }
        Ok(())
    }
}

/// A separate row, with its sort key.
#[derive(Default)]
struct Record {
    key: SortKey,
    fixed: Vec<u8>,
    lines: Vec<u64>,
    partial: Vec<u64>,
    bytes: Vec<u8>,
}

impl Record {
    /// Reads the next record; false at the end.
    fn read(&mut self, from: &mut impl Read) -> io::Result<bool> {
        self.fixed.resize(FIXED, 0);
        if from.read(&mut self.fixed[..1])? == 0 {
            return Ok(false);
        }
        from.read_exact(&mut self.fixed[1..])?;
        for (part, bytes) in self.key.iter_mut().zip(self.fixed.as_chunks::<8>().0) {
            *part = u64::from_le_bytes(*bytes);
        }
        self.bytes.resize(record_length(&self.fixed) - FIXED, 0);
        from.read_exact(&mut self.bytes)?;
        self.lines.clear();
        self.partial.clear();
        for (position, bytes) in (0..).zip(self.bytes.as_chunks::<8>().0) {
            let line = u64::from_le_bytes(*bytes);
            self.lines.push(line & !PARTIAL);
            if line & PARTIAL != 0 {
                self.partial.push(position);
            }
        }
        Ok(true)
    }

    fn row(&self) -> Row<'_> {
        let (small, counts, waits) = (&self.fixed[32..36], &self.fixed[36..52], &self.fixed[52..56]);
        let count = |at: usize| u32::from_le_bytes([counts[at], counts[at + 1], counts[at + 2], counts[at + 3]]);
        let wait = |at: usize| (waits[at] == 1).then(|| waits[at + 1]);
        Row {
            key: Key::default(),
            kind: Kind::ALL[usize::from(small[0])],
            code_lines: &[],
            bytes: u16::from_le_bytes([small[2], small[3]]),
            lanes: small[1],
            touched: Touched::Lines(&self.lines),
            partial: &self.partial,
            counts: Counts { vector_alu: count(0), scalar_alu: count(4), local_data: count(8), branch: count(12) },
            vector_wait: wait(0),
            scalar_wait: wait(2),
        }
    }
}

fn encode(key: SortKey, row: &Row<'_>, out: &mut Vec<u8>) {
    let lines = row.touched.values();
    debug_assert!(lines.len() <= MAX_LINES);
    key.iter().for_each(|part| out.extend(part.to_le_bytes()));
    out.extend([row.kind as u8, row.lanes]);
    out.extend(row.bytes.to_le_bytes());
    let counts = row.counts;
    for count in [counts.vector_alu, counts.scalar_alu, counts.local_data, counts.branch] {
        out.extend(count.to_le_bytes());
    }
    for wait in [row.vector_wait, row.scalar_wait] {
        out.extend([u8::from(wait.is_some()), wait.unwrap_or(0)]);
    }
    out.extend((lines.len() as u16).to_le_bytes());
    let mut partial = row.partial;
    for (position, line) in (0..).zip(lines) {
        let is_partial = partial.first() == Some(&position);
        partial = &partial[usize::from(is_partial)..];
        out.extend((if is_partial { line | PARTIAL } else { *line }).to_le_bytes());
    }
}

/// Bytes of the record that `bytes` begins with.
fn record_length(bytes: &[u8]) -> usize {
    FIXED + usize::from(u16::from_le_bytes([bytes[FIXED - 2], bytes[FIXED - 1]])) * 8
}

#[cfg(test)]
mod tests {
    use super::{SortKey, Sorter};
    use crate::{Counts, Key, Kind, Row, Touched};

    fn drained(run_bytes: usize, rows: u64) -> Vec<(SortKey, Vec<u64>, Vec<u64>, u32)> {
        let mut sorter = Sorter::with_run_bytes(&std::env::temp_dir(), run_bytes);
        for order in 0..rows {
            let lines: Vec<u64> = (0..order % 5).map(|line| order * 7 + line).collect();
            let partial: Vec<u64> = (0..lines.len() as u64).filter(|position| (order + position) % 3 == 0).collect();
            let plain = Row::plain(Key::default(), Kind::Store, Counts { branch: order as u32, ..Counts::default() });
            let row =
                Row { touched: Touched::Lines(&lines), partial: &partial, vector_wait: Some(order as u8), ..plain };
            sorter.push([0, order * 7919 % 101, 3, order], &row).unwrap();
        }
        let mut all = Vec::new();
        let take = |key, row: Row<'_>| {
            assert_eq!(
                (row.kind, row.vector_wait, row.scalar_wait),
                (Kind::Store, Some(row.counts.branch as u8), None)
            );
            all.push((key, row.touched.values().to_vec(), row.partial.to_vec(), row.counts.branch));
            Ok(())
        };
        sorter.drain(take).unwrap();
        sorter.drain(|_, _| unreachable!("it is empty again")).unwrap();
        all
    }

    #[test]
    fn in_memory_and_in_files_alike() {
        let expected = drained(usize::MAX, 2000);
        assert!(expected.len() == 2000 && expected.is_sorted());
        // A run of one row: files are joined many times over.
        assert_eq!(drained(1, 2000), expected);
        assert_eq!(drained(5000, 2000), expected);
    }
}
