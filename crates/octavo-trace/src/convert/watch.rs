//! The progress of a conversion, and what it could not keep.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::rc::Rc;

use super::ConvertError;
use super::text::shown;

/// Lines between two calls of the callback.
const BETWEEN: u64 = 1 << 14;
/// Unknown opcodes that are named; the rest is counted together.
const MAX_NAMED: usize = 32;

/// The progress of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the input that have been read, as they lie on disk.
    pub read: u64,
    /// Bytes of the input.
    pub bytes: u64,
    /// Rows written so far.
    pub rows: u64,
}

/// Asks the callback now and then.
pub(super) struct Watch<'a> {
    progress: &'a mut dyn FnMut(Progress) -> ControlFlow<()>,
    pub read: Rc<Cell<u64>>,
    pub bytes: u64,
    lines: u64,
}

impl<'a> Watch<'a> {
    pub fn new(progress: &'a mut dyn FnMut(Progress) -> ControlFlow<()>) -> Self {
        Self { progress, read: Rc::default(), bytes: 0, lines: 0 }
    }

    /// Another line was read, or another row written.
    pub fn tick(&mut self, rows: u64) -> Result<(), ConvertError> {
        self.lines += 1;
        if !self.lines.is_multiple_of(BETWEEN) {
            return Ok(());
        }
        let state = Progress { read: self.read.get().min(self.bytes), bytes: self.bytes, rows };
        match (self.progress)(state) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(ConvertError::Stopped),
        }
    }
}

/// Losses and guesses, and how many of each.
#[derive(Default)]
pub(super) struct Notes {
    counts: BTreeMap<&'static str, u64>,
    unknown: BTreeMap<Vec<u8>, u64>,
}

impl Notes {
    pub fn count(&mut self, what: &'static str, times: u64) {
        if times > 0 {
            *self.counts.entry(what).or_default() += times;
        }
    }

    /// An instruction that no table knows.
    pub fn unknown(&mut self, opcode: &[u8]) {
        if let Some(count) = self.unknown.get_mut(opcode) {
            *count += 1;
        } else if self.unknown.len() < MAX_NAMED {
            self.unknown.insert(opcode.to_vec(), 1);
        } else {
            self.count("instructions with other unknown opcodes, counted as vector ALU", 1);
        }
    }

    pub fn finish(self) -> Vec<(String, u64)> {
        let named = |(opcode, count): (Vec<u8>, u64)| {
            (format!("instructions with the unknown opcode {}, counted as vector ALU", shown(&opcode)), count)
        };
        let counts = self.counts.into_iter().map(|(what, count)| (what.to_owned(), count));
        counts.chain(self.unknown.into_iter().map(named)).collect()
    }
}
