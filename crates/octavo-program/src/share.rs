//! One GPU's share of the work-groups of a launch.

use std::ops::Range;

/// Work-groups by flattened id, in the order in which they begin: one block of neighbours, or several at equal
/// distances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// The rest of the block under way; empty only if no work-group is left.
    block: Range<u32>,
    /// Work-groups of each further block, and between it and the one before.
    each: u32,
    gap: u32,
    /// Work-groups of the launch: no block goes further.
    end: u32,
}

impl Share {
    /// The work-groups of a range.
    #[must_use]
    pub const fn contiguous(groups: Range<u32>) -> Self {
        Self { end: groups.end, block: groups, each: 0, gap: 0 }
    }

    /// The shares of `gpus` GPUs: `each` neighbours of `work_groups` for the first, the next for the next, and so on,
    /// again and again. `each` is not zero.
    #[must_use]
    pub fn in_blocks(work_groups: u32, gpus: u32, each: u32) -> Vec<Self> {
        let gap = each.saturating_mul(gpus - 1);
        let first = |gpu| (u64::from(each) * u64::from(gpu)).min(work_groups.into()) as u32;
        (0..gpus)
            .map(|gpu| {
                let start = first(gpu);
                Self { block: start..start.saturating_add(each).min(work_groups), each, gap, end: work_groups }
            })
            .collect()
    }

    /// Whether all have begun.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.block.is_empty()
    }
}

impl Iterator for Share {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let group = self.block.next()?;
        if self.block.is_empty() {
            let start = self.block.end.saturating_add(self.gap).min(self.end);
            self.block = start..start.saturating_add(self.each).min(self.end);
        }
        Some(group)
    }
}
