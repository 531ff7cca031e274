//! The lines of allocations.

use crate::Allocation;

/// Bytes of a line.
const LINE_BYTES: u64 = 64;

/// Lines of each allocation, rounded out to whole ones, in address order.
#[derive(Clone, Debug)]
pub(crate) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// For `allocations` that ascend, do not overlap and end within 64 bits.
    pub fn new(allocations: &[Allocation]) -> Self {
        let lines =
            |found: &Allocation| (found.base / LINE_BYTES, (found.base + (found.bytes.max(1) - 1)) / LINE_BYTES + 1);
        Self(allocations.iter().map(lines).collect())
    }

    /// First line of an allocation.
    pub fn first(&self, index: usize) -> u64 {
        self.0[index].0
    }

    /// Lines of each allocation.
    pub fn lengths(&self) -> impl Iterator<Item = u64> {
        self.0.iter().map(|(first, end)| end - first)
    }

    /// The allocation that `line` belongs to, the first of two that share it; `hint` remembers it for the next.
    #[inline]
    pub fn find(&self, line: u64, hint: &mut usize) -> Option<usize> {
        match self.0.get(*hint) {
            // The last line of an allocation may be the first of the next: the search decides.
            Some((first, end)) if line > *first && line < *end => Some(*hint),
            _ => self.search(line, hint),
        }
    }

    fn search(&self, line: u64, hint: &mut usize) -> Option<usize> {
        let index = self.0.partition_point(|(_, end)| *end <= line);
        self.0.get(index).filter(|(first, _)| line >= *first)?;
        *hint = index;
        Some(index)
    }
}

/// The message about a line that is in no allocation.
pub(crate) fn outside(line: u64) -> String {
    format!("line {line} (address {}) is in no allocation", u128::from(line) * u128::from(LINE_BYTES))
}
