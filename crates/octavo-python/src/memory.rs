//! How much memory a run has, and the process around it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::prelude::*;

use crate::allocator::{held, page_bytes};

/// Bytes of Python with the packages that runs need, once all of them are loaded and have written tables, minus their
/// output. Measured on x86-64 Linux with CPython 3.11, numpy 2 and polars 1; `test_memory_bound.py` holds them to it.
const PYTHON: u64 = 112 << 20;

/// Runs under way in this process.
static RUNS: AtomicUsize = AtomicUsize::new(0);

/// Bytes of this process outside runs: those of Python and its packages, or the process's memory at the first call,
/// before any run, if that was more.
#[pyfunction]
pub fn memory_around() -> u64 {
    static AROUND: OnceLock<u64> = OnceLock::new();
    *AROUND.get_or_init(|| memory_resident().unwrap_or_default().max(PYTHON))
}

/// Bytes of memory that this process has, as Linux counts them; nothing where the system does not say.
#[pyfunction]
pub fn memory_resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let mut words = text.split(' ');
    let pages: u64 = words.nth(1)?.parse().ok()?;
    Some(pages * page_bytes())
}

/// The memory of a run, from its beginning to its end, on the thread that it runs on.
pub struct Held {
    /// The memory of the thread at its beginning.
    before: isize,
}

impl Held {
    pub fn begin() -> Self {
        memory_around();
        RUNS.fetch_add(1, Ordering::Relaxed);
        Self { before: held() }
    }

    /// Bytes of the run: those that the engine allocated, or, if nothing else runs, the growth of the process, such as
    /// data that a user's policy keeps.
    pub fn bytes(&self) -> u64 {
        let own = u64::try_from(held() - self.before).unwrap_or_default();
        if RUNS.load(Ordering::Relaxed) > 1 {
            return own;
        }
        own.max(memory_resident().unwrap_or_default().saturating_sub(memory_around()))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        RUNS.fetch_sub(1, Ordering::Relaxed);
    }
}
