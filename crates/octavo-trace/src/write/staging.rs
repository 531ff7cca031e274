//! A folder that appears whole or not at all.

use std::fs;
use std::path::{Path, PathBuf};

use crate::schema::{ACTIONS, ALLOCATIONS, INSTRUCTIONS, LAUNCHES};
use crate::{TraceError, validate};

/// All that the folder of a trace has: its tables, and the manifest that `octavo trace seal` writes.
const OURS: [&str; 5] = [INSTRUCTIONS, ALLOCATIONS, LAUNCHES, ACTIONS, "octavo-manifest.json"];

/// A hidden sibling of the folder that it will become; removed when dropped before that.
pub(super) struct Staged {
    path: PathBuf,
    temporary: PathBuf,
    replace: bool,
}

impl Staged {
    /// # Errors
    /// `path` exists, unless it is a trace and nothing else, which may be replaced; or its parent cannot be written to.
    pub fn new(path: &Path, replace: bool) -> Result<Self, TraceError> {
        if path.exists() {
            if !replace {
                return Err(TraceError::new(path, "exists already"));
            }
            if !path.join(INSTRUCTIONS).is_file() {
                return Err(TraceError::new(path, "exists and is no trace, so it is not replaced"));
            }
            nothing_else(path)?;
        }
        let temporary = sibling(path, "")?;
        fs::create_dir_all(&temporary).map_err(|error| failed(path, &error))?;
        Ok(Self { path: path.to_owned(), temporary, replace })
    }

    /// The temporary place of a file of the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.temporary.join(name)
    }

    /// Checks the written trace; messages call it by its final name.
    pub fn check(&self) -> Result<(), TraceError> {
        let checked = validate(&self.temporary);
        checked.map(drop).map_err(|error| {
            let name =
                Path::new(&error.file).file_name().map_or_else(|| self.path.clone(), |name| self.path.join(name));
            TraceError { file: name.display().to_string(), ..error }
        })
    }

    /// Gives the folder its name.
    pub fn commit(self) -> Result<(), TraceError> {
        let replaces = self.replace && self.path.exists();
        if replaces {
            nothing_else(&self.path)?; // Somebody may have put a file there since.
        }
        let outcome = if replaces { self.swap() } else { self.rename() };
        outcome.map_err(|error| failed(&self.path, &error))
    }

    fn rename(&self) -> std::io::Result<()> {
        fs::rename(&self.temporary, &self.path)
    }

    /// The old folder steps aside first, since a rename replaces no folder that holds anything.
    fn swap(&self) -> std::io::Result<()> {
        let old = sibling(&self.path, "old.").map_err(|error| std::io::Error::other(error.reason))?;
        fs::rename(&self.path, &old)?;
        if let Err(error) = self.rename() {
            fs::rename(&old, &self.path)?;
            return Err(error);
        }
        fs::remove_dir_all(old)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // Gone already once it has its name.
        let _ = fs::remove_dir_all(&self.temporary);
    }
}

/// Refuses a folder with files that no trace has: they would be removed with the folder.
fn nothing_else(path: &Path) -> Result<(), TraceError> {
    let entries = fs::read_dir(path).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
    let mut names: Vec<_> =
        entries.map_err(|error| failed(path, &error))?.iter().map(fs::DirEntry::file_name).collect();
    names.sort();
    match names.iter().find(|name| !OURS.iter().any(|known| *name == *known)) {
        Some(name) => {
            let name = name.display();
            Err(TraceError::new(path, format!("is not replaced: it holds {name}, which is no part of a trace")))
        }
        None => Ok(()),
    }
}

/// A hidden name next to `path` that no other process uses.
fn sibling(path: &Path, mark: &str) -> Result<PathBuf, TraceError> {
    let name = path.file_name().ok_or_else(|| TraceError::new(path, "is not the name of a folder"))?;
    let name = format!(".{}.{mark}{}", name.to_string_lossy(), std::process::id());
    let free = (0..u32::MAX).map(|number| path.with_file_name(format!("{name}.{number}")));
    free.into_iter().find(|path| !path.exists()).ok_or_else(|| TraceError::new(path, "no free name beside it"))
}

fn failed(path: &Path, error: &std::io::Error) -> TraceError {
    TraceError::new(path, format!("cannot be written: {error}"))
}
