//! The structure: its size, the touched part, and its content.

use crate::driver::buffers::{DeviceMemory, PinnedMemory};
use crate::driver::gpu::Gpu;
use crate::driver::memory::{BLOCK, Memory, PAGE, Touchable, host_puts};
use crate::error::GpuError;
use crate::probes::sizes::power_within;
use crate::session::Session;

/// Bytes of a structure for each multiprocessor: enough that all of them stream, and that faults come in groups.
const FOR_EACH_MULTIPROCESSOR: u64 = 1 << 20;

/// Most shares a structure is divided into; a share is a page at least.
const SHARES: u64 = 64;

/// The value of each byte of a number: about 0.7, so that results stay between 0.5 and 2.
pub(super) const FILL: u8 = 0x3f;

/// Numbers on a page.
#[expect(clippy::cast_possible_truncation, reason = "pages are small")]
const NUMBERS: u32 = PAGE as u32 / 4;

/// How the touched part is distributed in the structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    /// Bytes in a row that are touched: a power of two.
    pub(super) run: u64,
    /// Bytes from the beginning of one run to the next.
    pub(super) spacing: u64,
    runs: u64,
}

/// A structure and the part of it that is touched.
pub(super) struct Structure {
    pub(super) size: u64,
    pub(super) share: Share,
}

/// A power of two: from the GPU's multiprocessors, half of that for a quick look, and never much of the free memory.
pub(super) fn size(session: &Session<'_>) -> u64 {
    let multiprocessors = session.gpu.description.number("multiprocessors").max(1);
    size_of(multiprocessors, session.gpu.managed_limit(), session.choose(2, 1))
}

fn size_of(multiprocessors: u64, limit: u64, part: u64) -> u64 {
    let wanted = multiprocessors * FOR_EACH_MULTIPROCESSOR / part;
    power_within(wanted.min(limit / 4).max(SHARES * PAGE))
}

impl Share {
    /// One part of this many, in runs of a driver's block or of the smallest share, evenly spaced.
    pub(super) fn in_runs(size: u64, of: u32) -> Self {
        Self::new(size, of, BLOCK.min(size / SHARES))
    }

    /// One part of this many, in single pages, evenly spaced.
    pub(super) fn in_pages(size: u64, of: u32) -> Self {
        Self::new(size, of, PAGE)
    }

    fn new(size: u64, of: u32, run: u64) -> Self {
        let spacing = run * u64::from(of);
        Self { run, spacing, runs: size / spacing }
    }

    /// Bytes that are touched.
    pub(super) fn bytes(&self) -> u64 {
        self.run * self.runs
    }

    /// The beginning of each touched page.
    pub(super) fn pages(&self) -> impl Iterator<Item = u64> {
        let Self { run, spacing, runs } = *self;
        (0..runs).flat_map(move |index| (0..run / PAGE).map(move |page| index * spacing + page * PAGE))
    }

    /// The processor fills the runs, and marks their pages.
    pub(super) fn fill(&self, memory: &dyn Touchable) {
        for run in 0..self.runs {
            memory.host_fills(FILL, run * self.spacing, self.run);
        }
        self.mark(memory);
    }

    /// The processor writes each touched page's number into it, the same each time.
    pub(super) fn mark(&self, memory: &dyn Touchable) {
        for page in self.pages() {
            host_puts(memory, page, mark_of(page));
        }
    }

    /// The sum of all touched numbers' bits, as far as 32 bits hold it.
    pub(super) fn sum(&self) -> u32 {
        let others = u32::from_ne_bytes([FILL; 4]).wrapping_mul(NUMBERS - 1);
        self.pages().fold(0, |sum, page| sum.wrapping_add(others).wrapping_add(mark_of(page)))
    }
}

/// Bits of a number between 0.5 and 1 that says which page it is on.
fn mark_of(page: u64) -> u32 {
    0x3f00_0000 | (u32::try_from(page / PAGE).expect("structures are small") & 0x007f_ffff)
}

/// The structure in the GPU's memory, and where it is copied from.
pub(super) struct OnDevice {
    from: PinnedMemory,
    to: DeviceMemory,
}

impl OnDevice {
    /// Every page of the structure is marked, so that any share of it is.
    pub(super) fn new(gpu: &Gpu, size: u64) -> Result<Self, GpuError> {
        let placed = Self { from: gpu.pinned_memory(size)?, to: gpu.device_memory(size)? };
        Share::in_runs(size, 1).fill(&placed.from);
        Ok(placed)
    }

    pub(super) fn memory(&self) -> &DeviceMemory {
        &self.to
    }

    /// Seconds in which all of it is copied.
    pub(super) fn copy(&self, session: &Session<'_>) -> Result<f64, GpuError> {
        let stream = &session.stream;
        session.stopwatch.time(stream, || stream.copy(&self.to, &self.from, self.to.bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Share, size_of};
    use crate::driver::buffers::HostMemory;
    use crate::driver::memory::View;

    const MIB: u64 = 1 << 20;

    #[test]
    fn structures_grow_with_the_gpu_and_leave_its_memory_free() {
        assert_eq!(size_of(132, 40 << 30, 1), 128 * MIB);
        assert_eq!(size_of(132, 40 << 30, 2), 64 * MIB);
        assert_eq!(size_of(2, 128 * MIB, 1), 2 * MIB);
        assert_eq!(size_of(132, 64 * MIB, 1), 16 * MIB);
        assert_eq!(size_of(1, 0, 2), 256 << 10);
    }

    #[test]
    fn runs_are_blocks_of_the_driver_where_they_fit() {
        assert_eq!(Share::in_runs(128 * MIB, 64), Share { run: 2 * MIB, spacing: 128 * MIB, runs: 1 });
        assert_eq!(Share::in_runs(128 * MIB, 4), Share { run: 2 * MIB, spacing: 8 * MIB, runs: 16 });
        assert_eq!(Share::in_runs(2 * MIB, 4), Share { run: 32 << 10, spacing: 128 << 10, runs: 16 });
        assert_eq!(Share::in_pages(2 * MIB, 64), Share { run: 4096, spacing: 256 << 10, runs: 8 });
    }

    #[test]
    fn the_expected_sum_is_that_of_what_is_filled() {
        for share in [Share::in_runs(MIB, 1), Share::in_runs(MIB, 4), Share::in_pages(MIB, 64)] {
            let memory = HostMemory::new(MIB, None).unwrap();
            share.fill(&memory);
            let word = |at: u64| View::of(&memory).get::<u32>(at);
            let words = share.pages().flat_map(|page| (0..1024).map(move |index| page + 4 * index));
            assert_eq!(words.map(word).fold(0, u32::wrapping_add), share.sum(), "{share:?}");
        }
    }
}
