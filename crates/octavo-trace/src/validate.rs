//! Whether a trace obeys every rule of the format.

use std::path::Path;

use crate::actions::{Named, Turn, unnamed};
use crate::lines::lines_of_addresses;
use crate::ranges::{Ranges, outside};
use crate::{Row, RowRules, Touched, TraceError, TraceReader};

/// Reads the whole trace `path` and checks it; returns how many rows it has.
///
/// # Errors The first broken rule, with file and row. Rules are the checks of [`TraceReader::open`] and
/// [`TraceReader::rows`], order and sequence, and columns that fit the kind of a row. No line may be outside of
/// allocations or of those that a launch names, and no wavefront may be missing.
pub fn validate(path: &Path) -> Result<u64, TraceError> {
    let reader = TraceReader::open(path)?;
    let mut rules = RowRules::new(reader.header().lanes);
    let mut places = Places::new(&reader);
    let mut expected = Expected { reader: &reader, next: (0, 0, 0) };
    expected.skip_empty();
    for group in 0..reader.row_groups() {
        for (index, row) in reader.rows(group)?.iter().enumerate() {
            let checked = rules.take(&row).and_then(|()| places.take(&row)).and_then(|()| expected.take(&row));
            checked.map_err(|reason| {
                let number = reader.first_row(group) + index as u64;
                TraceError::at(reader.instructions_path(), number, reason)
            })?;
        }
    }
    let last = reader.row_count().saturating_sub(1);
    let finished = rules.finish().and_then(|()| expected.finish());
    finished.map_err(|reason| TraceError::at(reader.instructions_path(), last, reason))?;
    Ok(reader.row_count())
}

/// Checks that every line is in an allocation, and in one that its launch names.
struct Places {
    ranges: Ranges,
    hint: usize,
    lines: Vec<u64>,
    named: Named,
    turn: Turn,
}

impl Places {
    fn new(reader: &TraceReader) -> Self {
        let named = Named::new(reader.program(), reader.launches().len());
        Self { ranges: Ranges::new(reader.allocations()), hint: 0, lines: Vec::new(), named, turn: Turn::default() }
    }

    fn take(&mut self, row: &Row<'_>) -> Result<(), String> {
        let lines = match row.touched {
            Touched::Lines(lines) => lines,
            Touched::Addresses(addresses) => {
                self.lines.clear();
                lines_of_addresses(addresses, row.bytes, &mut self.lines);
                &self.lines
            }
        };
        self.turn.enter(row.key.launch, &self.named);
        for line in lines {
            let allocation = self.ranges.find(*line, &mut self.hint).ok_or_else(|| outside(*line))?;
            if !self.turn.names(allocation) {
                return Err(unnamed(*line));
            }
        }
        Ok(())
    }
}

/// Checks that every wavefront of every work-group of every launch is present.
struct Expected<'a> {
    reader: &'a TraceReader,
    /// Launch, work-group and wavefront that begins next; a launch beyond the table at the end.
    next: (u32, u32, u16),
}

impl Expected<'_> {
    fn take(&mut self, row: &Row<'_>) -> Result<(), String> {
        if row.key.sequence != 0 {
            return Ok(());
        }
        let found = (row.key.launch, row.key.group, row.key.wavefront);
        if found != self.next {
            return Err(format!("{} begins, expected {}", self.name(found), self.name(self.next)));
        }
        self.next.2 += 1;
        self.skip_empty();
        Ok(())
    }

    /// Moves on to a wavefront that exists.
    fn skip_empty(&mut self) {
        while let Some(launch) = self.reader.launches().get(self.next.0 as usize) {
            let (_, group, wavefront) = self.next;
            if wavefront < launch.wavefronts_per_group && group < launch.work_groups().unwrap_or(0) {
                return;
            }
            let groups = launch.work_groups().unwrap_or(0);
            self.next = if group + 1 < groups { (self.next.0, group + 1, 0) } else { (self.next.0 + 1, 0, 0) };
        }
    }

    fn finish(&self) -> Result<(), String> {
        if self.next.0 as usize == self.reader.launches().len() {
            return Ok(());
        }
        Err(format!("the rows end, but {} is missing", self.name(self.next)))
    }

    fn name(&self, (launch, group, wavefront): (u32, u32, u16)) -> String {
        if launch as usize >= self.reader.launches().len() {
            return format!("nothing after the {} launches", self.reader.launches().len());
        }
        format!("wavefront {wavefront} of group {group} of launch {launch}")
    }
}
