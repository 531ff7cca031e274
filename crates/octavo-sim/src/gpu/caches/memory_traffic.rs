//! The lines that pass between a GPU's caches and its memory, kept while somebody wants them.

/// A line that memory reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PassedLine {
    /// When, in picoseconds.
    pub time: u64,
    pub gpu: usize,
    pub line: u64,
    pub write: bool,
}

/// Lines since they were last taken.
#[derive(Default)]
pub(crate) struct MemoryTraffic {
    kept: Option<Vec<PassedLine>>,
}

impl MemoryTraffic {
    /// From here on they are kept.
    pub fn keep(&mut self) {
        self.kept = Some(Vec::new());
    }

    /// Whether they are kept.
    #[inline(always)]
    pub const fn keeps(&self) -> bool {
        self.kept.is_some()
    }

    #[inline(always)]
    pub fn pass(&mut self, passed: PassedLine) {
        if let Some(kept) = &mut self.kept {
            kept.push(passed);
        }
    }

    /// Those that were kept.
    pub fn take(&mut self) -> impl Iterator<Item = PassedLine> + '_ {
        self.kept.iter_mut().flat_map(|kept| kept.drain(..))
    }
}
