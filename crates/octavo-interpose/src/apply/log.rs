//! What was done, as it is written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::apply::placement::Placement;
use crate::kind::Kind;

/// The format that is written; `python/octavo/measured/interposed.py` reads it.
pub const FORMAT: u32 = 1;

/// Calls and bytes of one sort.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Count {
    calls: u64,
    bytes: u64,
}

impl Count {
    /// One more.
    pub fn add(&mut self, bytes: usize) {
        self.calls += 1;
        self.bytes = self.bytes.saturating_add(bytes as u64);
    }
}

/// What was done for one buffer of the file.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Done {
    /// Allocations that it meant.
    pub matched: u64,
    /// Of them, those of the kind and with the hints that it asks for.
    pub redirected: u64,
    /// Those for which there was none; they are what the program asked for.
    pub failed: u64,
    /// The driver's last error with them.
    pub status: Option<i32>,
    /// Hints that the driver refused.
    pub hints_refused: u64,
}

/// What was done in a process.
#[derive(Debug, Default)]
pub struct Log {
    /// By buffer of the file.
    pub buffers: Vec<Done>,
    /// By call, what is never redirected.
    pub passed_on: BTreeMap<&'static str, Count>,
    /// Allocations that the file does not mean.
    pub unnamed: Count,
    /// The program's own hints on memory that is not managed any more.
    pub hints_left_out: u64,
    /// Whether anything was called.
    pub used: bool,
}

#[derive(Serialize)]
struct Buffer<'a> {
    name: &'a str,
    call: &'a str,
    bytes: u64,
    placement: Kind,
    #[serde(flatten)]
    done: Done,
}

#[derive(Serialize)]
struct Document<'a> {
    octavo_applied: u32,
    program: Vec<String>,
    process: u32,
    forked_from: Option<u32>,
    placement: &'a Path,
    refused: Option<&'a str>,
    buffers: Vec<Buffer<'a>>,
    passed_on: &'a BTreeMap<&'static str, Count>,
    unnamed: Count,
    hints_left_out: u64,
}

/// Where and of whom it is written.
#[derive(Debug)]
pub struct Of {
    /// The log.
    pub path: PathBuf,
    /// The placement file.
    pub placement: PathBuf,
    /// The process.
    pub process: u32,
    /// The one that it was forked from.
    pub parent: Option<u32>,
}

impl Of {
    /// Writes it, whole or not at all.
    pub fn write(&self, log: &Log, read: &Result<Placement, String>) {
        let buffers = read.as_ref().map_or(&[][..], |placement| &placement.buffers);
        let document = Document {
            octavo_applied: FORMAT,
            program: std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect(),
            process: self.process,
            forked_from: self.parent,
            placement: &self.placement,
            refused: read.as_ref().err().map(String::as_str),
            buffers: buffers
                .iter()
                .zip(&log.buffers)
                .map(|(buffer, done)| Buffer {
                    name: &buffer.name,
                    call: &buffer.call,
                    bytes: buffer.bytes,
                    placement: buffer.placement,
                    done: *done,
                })
                .collect(),
            passed_on: &log.passed_on,
            unnamed: log.unnamed,
            hints_left_out: log.hints_left_out,
        };
        crate::written::json(&self.path, self.process, &document);
    }
}
