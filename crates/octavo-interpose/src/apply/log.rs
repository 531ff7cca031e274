//! The log of the redirected calls in the form of the file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::apply::placement::{Placement, Site};
use crate::apply::trial::{Counts, Measured, Trial};
use crate::kind::Kind;

/// The format that is written; `python/octavo/measurements/interposer/programs.py` reads it.
pub const FORMAT: u32 = 4;

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

/// The result of an allocation of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Became {
    /// The kind that its buffer wants.
    Other,
    /// The program's own call: its buffer wants the same, or is never redirected.
    AsItIs,
    /// The program's own call, since the other one failed with this error.
    Failed(i32),
}

/// The actions for one buffer of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Done {
    /// Allocations that it means and that succeeded: the sum of the next three.
    matched: u64,
    /// Those that became the requested kind, even if the driver rejected a hint.
    redirected: u64,
    /// Those that have that kind already, or whose call is never redirected.
    as_it_is: u64,
    /// Those for which there was no such memory; they got what the program requested.
    failed: u64,
    /// The driver's last error with them.
    status: Option<i32>,
    /// Hints that the driver refused.
    hints_refused: u64,
}

/// The actions in a process.
#[derive(Debug, Default)]
pub struct Log {
    /// By buffer of the file.
    buffers: Vec<Done>,
    /// Calls whose memory is never redirected, by name.
    passed_on: BTreeMap<&'static str, Count>,
    /// Allocations that the file does not mean.
    unnamed: Count,
    /// The program's own hints on memory that is not managed any more.
    pub hints_left_out: u64,
    /// Whether anything was called.
    pub used: bool,
}

impl Log {
    /// The log for a file with this many buffers.
    pub fn of(buffers: usize) -> Self {
        Self { buffers: vec![Done::default(); buffers], ..Self::default() }
    }

    /// The program has an allocation that a buffer means, or none.
    pub fn count(&mut self, buffer: Option<usize>, bytes: usize, became: Became) {
        let Some(done) = buffer.and_then(|number| self.buffers.get_mut(number)) else {
            self.unnamed.add(bytes);
            return;
        };
        done.matched += 1;
        match became {
            Became::Other => done.redirected += 1,
            Became::AsItIs => done.as_it_is += 1,
            Became::Failed(status) => {
                done.failed += 1;
                done.status = Some(status);
            }
        }
    }

    /// The program has an allocation that is never redirected, even if a buffer matches it.
    pub fn pass_on(&mut self, call: &'static str, buffer: Option<usize>, bytes: usize) {
        self.passed_on.entry(call).or_default().add(bytes);
        if buffer.is_some() {
            self.count(buffer, bytes, Became::AsItIs);
        }
    }

    /// The driver refused a hint of a buffer's.
    pub fn refuse_hint(&mut self, buffer: Option<usize>) {
        if let Some(done) = buffer.and_then(|number| self.buffers.get_mut(number)) {
            done.hints_refused += 1;
        }
    }
}

#[derive(Serialize)]
struct Buffer<'a> {
    name: &'a str,
    call: &'a str,
    bytes: u64,
    placement: Kind,
    #[serde(flatten)]
    done: Done,
    #[serde(flatten)]
    moved: Counts,
    /// Times between launches at which the host touched pages that had been moved to it.
    returns: Option<Measured>,
}

/// Launches of a kernel before which something was moved.
#[derive(Serialize)]
struct Launches<'a> {
    kernel: Option<&'a str>,
    blocks: u64,
    threads_per_block: u64,
    #[serde(flatten)]
    measured: Measured,
}

impl<'a> Launches<'a> {
    fn of(site: &'a Site, measured: Measured) -> Self {
        let Site { name, blocks, threads_per_block } = site;
        Self { kernel: name.as_deref(), blocks: *blocks, threads_per_block: *threads_per_block, measured }
    }
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
    moves_refused: u64,
    /// The measured gain of moves, compared with the recording without them.
    gained_ns: i64,
    /// With moves, compared with the recording without them.
    launches: Vec<Launches<'a>>,
    /// The same of launches between copies that the host made itself.
    copies: Option<Measured>,
}

/// Where the log is written, and for which process.
#[derive(Debug)]
pub struct Of {
    /// The log.
    pub path: PathBuf,
    /// The placement file.
    pub placement: PathBuf,
    /// The process.
    pub process: u32,
    /// The process that it was forked from.
    pub parent: Option<u32>,
}

impl Of {
    /// Writes it, whole or not at all.
    pub fn write(&self, log: &Log, trial: &Trial, read: &Result<Placement, String>) {
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
                .enumerate()
                .map(|(number, (buffer, done))| Buffer {
                    name: &buffer.name,
                    call: &buffer.call,
                    bytes: buffer.bytes,
                    placement: buffer.placement,
                    done: *done,
                    moved: trial.log.buffers.get(&number).copied().unwrap_or_default(),
                    returns: trial.returns.get(&number).copied(),
                })
                .collect(),
            passed_on: &log.passed_on,
            unnamed: log.unnamed,
            hints_left_out: log.hints_left_out,
            moves_refused: trial.log.refused,
            gained_ns: trial.gained,
            launches: read.as_ref().map_or(Vec::new(), |file| {
                let sites = &file.recorded.kernels;
                trial.sites.iter().filter_map(|(site, found)| Some(Launches::of(sites.get(*site)?, *found))).collect()
            }),
            copies: trial.hosted.is_known().then_some(trial.hosted),
        };
        crate::output::json(&self.path, self.process, &document);
    }
}
