//! Lines of another processor, on their way or waiting.

use crate::gpu::run::Run;

/// Up to 64 lines of one page that have to move: bit `i` of the mask is line `first + i`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines {
    /// The instruction's access, which begins with the first line.
    pub run: Run,
    pub(super) mask: u64,
    /// Bits of the mask: kept because counting them is slow where the machine has no instruction for it.
    pub(super) count: u32,
}

impl Lines {
    /// The first line of an access alone.
    pub const fn first_of(run: Run) -> Self {
        Self { run, mask: 1, count: 1 }
    }

    #[inline]
    pub const fn is_empty(self) -> bool {
        self.mask == 0
    }

    #[inline]
    pub const fn count(self) -> usize {
        self.count as usize
    }

    /// How many come without the other half of their 128 bytes.
    pub fn lone(self) -> u64 {
        const FIRST_HALVES: u128 = u128::MAX / 3;
        let mask = u128::from(self.mask) << (self.run.line() & 1);
        u64::from(((mask ^ (mask >> 1)) & FIRST_HALVES).count_ones())
    }

    pub fn one(self, line: u64) -> Run {
        self.run.part(line, 1)
    }

    /// From one set bit to the next: most instructions have one line here.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = u64> {
        let (first, mut left) = (self.run.line(), self.mask);
        std::iter::from_fn(move || {
            let line = (left != 0).then(|| first + u64::from(left.trailing_zeros()));
            left &= left.wrapping_sub(1);
            line
        })
    }
}

/// Lines that wait until fewer are in flight: half a cache line, since a GPU's wavefronts can queue thousands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(super) run: Run,
    pub(super) mask: u64,
    /// Since when.
    pub since: u64,
    pub(super) count: u32,
    /// Slot of the wavefront.
    pub slot: u32,
}

impl Waiting {
    pub const fn lines(self) -> Lines {
        Lines { run: self.run, mask: self.mask, count: self.count }
    }
}
