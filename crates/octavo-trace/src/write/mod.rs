//! Writing a trace, row by row.

mod actions;
mod columns;
mod file;
mod limits;
mod staging;

use std::path::{Path, PathBuf};

use octavo_program::{Buffer, Program, ProgramBuffer};

use self::file::ParquetFile;
use self::limits::GROUP_VALUES;
use self::staging::Staged;
use crate::actions::rows_of;
use crate::lines::{lines_of_addresses, partial_of_addresses};
use crate::schema::{ACTIONS, ALLOCATIONS, INSTRUCTIONS, LAUNCHES, MAX_GROUP_ROWS};
use crate::{ActionRow, Allocation, Header, LaunchRow, Memory, Row, RowRules, Rows, Touched, TraceError, Version};

/// Writes a trace from rows in program order; the folder appears under its name only when all is written.
///
/// Lane addresses become the lines they touch, and the lines among them that they fill only in part. Memory is bounded
/// for any number of rows. If it is dropped before [`TraceWriter::finish`], no files stay behind.
pub struct TraceWriter {
    staged: Staged,
    header: Header,
    instructions: ParquetFile,
    /// Name of the file of instructions in messages.
    name: PathBuf,
    rules: RowRules,
    rows: Rows,
    /// Rows in the row groups before.
    written: u64,
    lines: Vec<u64>,
    partial: Vec<u64>,
    group_rows: usize,
}

impl TraceWriter {
    /// Begins the trace folder `path`, which must not exist.
    ///
    /// # Errors
    /// It exists, it cannot be created, or the header has neither 32 nor 64 lanes.
    pub fn create(path: &Path, header: Header) -> Result<Self, TraceError> {
        Self::begin(path, header, false)
    }

    /// Begins the trace folder `path`; an existing trace is replaced at the end.
    ///
    /// # Errors
    /// As for [`TraceWriter::create`], or something other than a trace is there.
    pub fn replace(path: &Path, header: Header) -> Result<Self, TraceError> {
        Self::begin(path, header, true)
    }

    fn begin(path: &Path, header: Header, replace: bool) -> Result<Self, TraceError> {
        if ![32, 64].contains(&header.lanes) {
            return Err(TraceError::new(path, format!("wavefronts have 32 or 64 lanes, not {}", header.lanes)));
        }
        let staged = Staged::new(path, replace)?;
        let instructions = columns::create_instructions(&staged.file(INSTRUCTIONS))?;
        let rules = RowRules::new(header.lanes);
        let name = path.join(INSTRUCTIONS);
        Ok(Self {
            staged,
            header,
            instructions,
            name,
            rules,
            rows: Rows::default(),
            written: 0,
            lines: Vec::new(),
            partial: Vec::new(),
            group_rows: MAX_GROUP_ROWS,
        })
    }

    /// Row groups of at most this many rows, 1 to [`MAX_GROUP_ROWS`], from here on: a wavefront is found with less
    /// decoding, but the file is larger.
    #[must_use]
    pub fn group_rows(mut self, rows: usize) -> Self {
        self.group_rows = rows.clamp(1, MAX_GROUP_ROWS);
        self
    }

    /// Appends a row.
    ///
    /// # Errors
    /// It breaks a rule of the format (order, sequence, what its kind may have), or the disk is full.
    pub fn push(&mut self, row: Row<'_>) -> Result<(), TraceError> {
        let number = self.written + self.rows.len() as u64;
        self.rules.take(&row).map_err(|reason| TraceError::at(&self.name, number, reason))?;
        match row.touched {
            Touched::Lines(_) => self.rows.push(row),
            Touched::Addresses(addresses) => {
                self.lines.clear();
                self.partial.clear();
                lines_of_addresses(addresses, row.bytes, &mut self.lines);
                if row.kind.is_written() {
                    partial_of_addresses(addresses, row.bytes, &self.lines, &mut self.partial);
                }
                self.rows.push(Row { touched: Touched::Lines(&self.lines), partial: &self.partial, ..row });
            }
        }
        if self.rows.len() >= self.group_rows || self.rows.longest() >= GROUP_VALUES {
            self.flush()?;
        }
        Ok(())
    }

    /// The number of appended rows.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.written + self.rows.len() as u64
    }

    /// Writes the tables, reads everything once more to [`validate`](crate::validate()) it, and lets the folder appear.
    ///
    /// # Errors
    /// The trace breaks a rule of the format, or the disk is full.
    pub fn finish(mut self, allocations: &[Allocation], launches: &[LaunchRow]) -> Result<(), TraceError> {
        self.check_tables(allocations, launches)?;
        self.finish_instructions(Version::Launches)?;
        columns::write_allocations(&self.staged.file(ALLOCATIONS), &self.header, allocations, None)?;
        columns::write_launches(&self.staged.file(LAUNCHES), &self.header, Version::Launches, launches)?;
        self.appear()
    }

    /// Like [`TraceWriter::finish`], with the whole program around the launches: version 2 of the format. `memories`
    /// gives the kind of each allocation.
    ///
    /// # Errors
    /// As for [`TraceWriter::finish`]; or there are more or fewer `memories` than allocations.
    pub fn finish_program(
        mut self,
        allocations: &[Allocation],
        memories: &[Memory],
        launches: &[LaunchRow],
        actions: &[ActionRow],
    ) -> Result<(), TraceError> {
        let name = self.name.with_file_name(ALLOCATIONS);
        if memories.len() != allocations.len() {
            let reason = format!("{} kinds of {} allocations, expected as many", memories.len(), allocations.len());
            return Err(TraceError::new(&name, reason));
        }
        self.check_tables(allocations, launches)?;
        limits::check(&self.name.with_file_name(ACTIONS), actions.iter().map(actions::size))?;
        self.finish_instructions(Version::Program)?;
        columns::write_allocations(&self.staged.file(ALLOCATIONS), &self.header, allocations, Some(memories))?;
        columns::write_launches(&self.staged.file(LAUNCHES), &self.header, Version::Program, launches)?;
        actions::write_actions(&self.staged.file(ACTIONS), &self.header, actions)?;
        self.appear()
    }

    /// Like [`TraceWriter::finish_program`], for an existing program.
    ///
    /// # Errors
    /// As for [`TraceWriter::finish`].
    pub fn finish_whole(self, program: &Program, launches: &[LaunchRow]) -> Result<(), TraceError> {
        let allocation = |found: &ProgramBuffer| {
            let Buffer { name, base, bytes, gpu } = found.buffer.clone();
            Allocation { name, base, bytes, gpu }
        };
        let allocations: Vec<Allocation> = program.buffers().iter().map(allocation).collect();
        let memory = |found: &ProgramBuffer| Memory { kind: found.kind, spread: found.spread };
        let memories: Vec<Memory> = program.buffers().iter().map(memory).collect();
        self.finish_program(&allocations, &memories, launches, &rows_of(program))
    }

    /// Refuses tables that no reader would take.
    fn check_tables(&self, allocations: &[Allocation], launches: &[LaunchRow]) -> Result<(), TraceError> {
        limits::check(&self.name.with_file_name(ALLOCATIONS), allocations.iter().map(columns::size_of_allocation))?;
        limits::check(&self.name.with_file_name(LAUNCHES), launches.iter().map(columns::size_of_launch))
    }

    fn finish_instructions(&mut self, version: Version) -> Result<(), TraceError> {
        let rows = self.rows();
        self.rules.finish().map_err(|reason| TraceError::at(&self.name, rows.saturating_sub(1), reason))?;
        self.flush()?;
        self.instructions.finish(&self.header, version)
    }

    fn appear(self) -> Result<(), TraceError> {
        self.staged.check()?;
        self.staged.commit()
    }

    fn flush(&mut self) -> Result<(), TraceError> {
        if !self.rows.is_empty() {
            columns::write_rows(&mut self.instructions, &self.rows)?;
            self.written += self.rows.len() as u64;
            self.rows.clear();
        }
        Ok(())
    }
}
