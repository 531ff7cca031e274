//! The steps of a process, in order.

use serde::Serialize;

/// Steps that are kept; later ones are counted. Chosen: some 10 MB of a profile.
const MOST: usize = 1 << 16;

/// One step. Allocations and kernels by their numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
pub enum Step {
    /// A kernel was launched, which has addresses of these allocations among its parameters.
    Launch {
        /// Its number and shape's.
        kernel: usize,
        buffers: Vec<usize>,
        /// The stream's number in the order of their first launches; 0 is the default one.
        stream: usize,
        /// How long it ran, and how long after the end of the last timed launch it began; none if it was not timed.
        ns: Option<i64>,
        gap_ns: Option<i64>,
    },
    /// The host waited for a stream; for all of them, or some other thing, if there is no number.
    Wait { stream: Option<usize> },
    /// Bytes were copied; `waited` says that the host waits for such a copy, `site` where a large one was called.
    Copied { to: Option<usize>, from: Option<usize>, bytes: u64, waited: bool, site: Option<usize> },
    /// Bytes were set.
    Filled { allocation: usize, bytes: u64 },
    /// The host touched a share of an allocation since the last step; whether the host may have written to it since the
    /// last look.
    Touched { allocation: usize, share: f64, written: bool },
    /// A share of an allocation has left the host for launches since the wait before.
    Left { allocation: usize, share: f64 },
}

/// All that are kept.
#[derive(Debug, Default)]
pub struct Steps {
    /// In order.
    pub all: Vec<Step>,
    /// The number of steps that are not kept.
    pub lost: u64,
}

impl Steps {
    /// Adds one; returns its number, if it is kept.
    pub fn add(&mut self, step: Step) -> Option<usize> {
        if self.all.len() >= MOST || self.all.try_reserve(1).is_err() {
            self.lost += 1;
            return None;
        }
        self.all.push(step);
        Some(self.all.len() - 1)
    }

    /// How long a launch took.
    pub fn time(&mut self, number: usize, took: Option<i64>, since: Option<i64>) {
        if let Some(Step::Launch { ns, gap_ns, .. }) = self.all.get_mut(number) {
            (*ns, *gap_ns) = (took, since);
        }
    }
}
