//! Reading a trace: tables whole, instructions a row group at a time.

mod actions;
mod check;
mod column;
mod compact;
mod footer;
mod guard;
mod instructions;
mod pages;
pub(crate) mod tables;

use std::path::{Path, PathBuf};

use octavo_program::Program;

pub use self::check::check_table;
pub(crate) use self::instructions::Batches;
use self::instructions::Instructions;
use crate::actions::{Broken, program_of};
use crate::schema::{ACTIONS, ALLOCATIONS, INSTRUCTIONS, LAUNCHES};
use crate::{Allocation, Header, Key, LaunchRow, Rows, TraceError, Version};

/// A trace is a folder.
pub(crate) fn check_folder(path: &Path) -> Result<(), TraceError> {
    if path.is_dir() {
        return Ok(());
    }
    Err(TraceError::new(path, if path.exists() { "is no folder, as a trace is" } else { "does not exist" }))
}

/// An open trace.
///
/// Opening reads the tables and the footers. Instructions are read a row group (at most
/// [`MAX_GROUP_ROWS`](crate::MAX_GROUP_ROWS) rows) at a time, so memory stays bounded for files of any size.
pub struct TraceReader {
    path: PathBuf,
    header: Header,
    allocations: Vec<Allocation>,
    launches: Vec<LaunchRow>,
    /// The program around the launches, if it was recorded.
    program: Option<Program>,
    instructions: Instructions,
}

impl TraceReader {
    /// Opens the trace folder `path`.
    ///
    /// # Errors
    /// A file is missing, damaged, of another version or of another trace; a column is missing or of another type; a
    /// table breaks a rule of the format.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        check_folder(path)?;
        let instructions = Instructions::open(&path.join(INSTRUCTIONS))?;
        let metadata = tables::metadata(&instructions.file)?;
        let allocations = tables::allocations(&path.join(ALLOCATIONS), &metadata)?;
        let launches = tables::launches(&path.join(LAUNCHES), &metadata)?;
        let program = match metadata.version {
            Version::Launches => None,
            Version::Program => Some(program(path, &metadata, &allocations, launches.len() as u32)?),
        };
        Ok(Self { path: path.to_owned(), header: metadata.header, allocations, launches, program, instructions })
    }

    /// Version of the format.
    #[must_use]
    pub fn version(&self) -> Version {
        if self.program.is_some() { Version::Program } else { Version::Launches }
    }

    /// The program around the launches, in recorded addresses; `None` where launches alone were recorded.
    #[must_use]
    pub fn program(&self) -> Option<&Program> {
        self.program.as_ref()
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file of instructions, for messages.
    #[must_use]
    pub fn instructions_path(&self) -> &Path {
        self.instructions.file.path()
    }

    /// The recorder and its description of the recording.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The allocations, in address order.
    #[must_use]
    pub fn allocations(&self) -> &[Allocation] {
        &self.allocations
    }

    /// The launches, in order.
    #[must_use]
    pub fn launches(&self) -> &[LaunchRow] {
        &self.launches
    }

    /// Rows of all row groups.
    #[must_use]
    pub fn row_count(&self) -> u64 {
        self.instructions.file.rows()
    }

    /// The number of row groups.
    #[must_use]
    pub fn row_groups(&self) -> usize {
        self.instructions.file.groups()
    }

    /// Number of the first row of a row group, below [`TraceReader::row_groups`].
    #[must_use]
    pub fn first_row(&self, group: usize) -> u64 {
        self.instructions.file.first_row(group)
    }

    /// Rows of a row group.
    pub(crate) fn group_rows(&self, group: usize) -> usize {
        self.instructions.file.group_rows(group)
    }

    /// Key of the first row of a row group; `None` if it has no rows.
    ///
    /// # Errors
    /// It cannot be decoded.
    pub fn first_key(&self, group: usize) -> Result<Option<Key>, TraceError> {
        if self.instructions.file.group_rows(group) == 0 {
            return Ok(None);
        }
        self.instructions.first_key(group).map(Some)
    }

    /// Decodes a row group.
    ///
    /// # Errors
    /// It cannot be decoded, or values are not what their columns may hold.
    pub fn rows(&self, group: usize) -> Result<Rows, TraceError> {
        self.instructions.rows(group)
    }

    /// The rows of a row group, to be decoded some at a time.
    ///
    /// # Errors
    /// As for [`TraceReader::rows`].
    pub(crate) fn batches(&self, group: usize) -> Result<Batches<'_>, TraceError> {
        Batches::new(&self.instructions, group)
    }
}

/// Whether there is a folder of this name that looks like a trace: it holds instructions.
#[must_use]
pub fn is_trace(path: &Path) -> bool {
    path.join(INSTRUCTIONS).is_file()
}

/// Whether the trace folder `path` holds a whole program.
///
/// # Errors
/// Its instructions cannot be read, or are of an unknown version.
pub fn holds_program(path: &Path) -> Result<bool, TraceError> {
    check_folder(path)?;
    let instructions = Instructions::open(&path.join(INSTRUCTIONS))?;
    Ok(tables::metadata(&instructions.file)?.version == Version::Program)
}

/// The program that `actions.parquet` holds.
fn program(
    path: &Path,
    metadata: &tables::Metadata,
    allocations: &[Allocation],
    launches: u32,
) -> Result<Program, TraceError> {
    let name = path.join(ALLOCATIONS);
    let memories = tables::memories(&name, metadata)?;
    tables::check_apart(allocations).map_err(|(row, reason)| TraceError::at(&name, row as u64, reason))?;
    let name = path.join(ACTIONS);
    let rows = actions::actions(&name, metadata)?;
    program_of(allocations, &memories, &rows, launches).map_err(|Broken { row, reason }| match row {
        Some(row) => TraceError::at(&name, row as u64, reason),
        None => TraceError::new(&name, reason),
    })
}
