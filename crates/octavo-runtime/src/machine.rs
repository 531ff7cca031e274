//! The constants of a machine: a file that `octavo constants` wrote, or those built in.

use std::ffi::CString;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use octavo_advise::System;
use serde::Deserialize;
use thiserror::Error;

use crate::abi::{BAD_FILE, INTERNAL, NO_FILE, Status};

/// The format that is read; `python/octavo/advice/systems.py` writes it.
const FORMAT: u64 = 5;
/// Bytes that no file of constants reaches, so that none is read without end; our choice.
const MOST_BYTES: u64 = 1 << 20;
/// The constants of the preset `cuda-sm90`, the default machine of `octavo advise`, too.
const BUILT_IN: &str = include_str!("../data/cuda-sm90.json");

/// The facts about a machine.
#[derive(Debug)]
pub struct Machine {
    /// Its name.
    pub name: CString,
    /// Its constants.
    pub system: System,
    /// Whether it is the one built in.
    pub assumed: bool,
}

/// Why there is no machine.
#[derive(Debug, Error)]
pub enum BadMachine {
    /// The file cannot be read.
    #[error("{path}: {error}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// The file holds something else.
    #[error("{path}: expected constants as `octavo constants` writes them, found {found}")]
    Other {
        /// The file.
        path: String,
        /// What it holds.
        found: String,
    },
    /// The built-in constants cannot be read.
    #[error("the built-in machine: {0}")]
    BuiltIn(String),
}

#[derive(Deserialize)]
struct Constants {
    name: String,
    system: System,
}

impl Machine {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or holds no constants of this format.
    pub fn open(path: &Path) -> Result<Self, BadMachine> {
        let named = || path.display().to_string();
        let text = read(path).map_err(|error| BadMachine::Unreadable { path: named(), error })?;
        parsed(&text).map_err(|found| BadMachine::Other { path: named(), found })
    }

    /// The one built in.
    ///
    /// # Errors
    /// Octavo was built with constants that cannot be read.
    pub fn built_in() -> Result<Self, BadMachine> {
        let machine = parsed(BUILT_IN).map_err(BadMachine::BuiltIn)?;
        Ok(Self { assumed: true, ..machine })
    }
}

impl BadMachine {
    /// The status in the C interface.
    pub fn status(&self) -> Status {
        match self {
            Self::Unreadable { .. } => NO_FILE,
            Self::Other { .. } => BAD_FILE,
            Self::BuiltIn(_) => INTERNAL,
        }
    }
}

fn read(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MOST_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

/// A machine, or the problem with its file.
fn parsed(text: &str) -> Result<Machine, String> {
    let document: serde_json::Value = serde_json::from_str(text).map_err(|error| match text.contains("[machine]") {
        true => "a machine file: run `octavo constants FILE -o constants.json`".to_owned(),
        false => format!("no JSON ({error})"),
    })?;
    match document.get("constants").and_then(serde_json::Value::as_u64) {
        Some(FORMAT) => {}
        Some(other) => return Err(format!("format {other}; this version reads {FORMAT}")),
        None => return Err("no key `constants` with the number of the format".to_owned()),
    }
    let Constants { name, system } = Constants::deserialize(document).map_err(|error| error.to_string())?;
    let name = CString::new(name).map_err(|_| "a name with a byte of 0".to_owned())?;
    Ok(Machine { name, system, assumed: false })
}
