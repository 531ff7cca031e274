//! The kernel, with the number of operations of a point.

use crate::driver::buffers::DeviceMemory;
use crate::driver::kernel::{Argument, Grid, Kernel};
use crate::driver::memory::{Memory, to_usize};
use crate::error::GpuError;
use crate::probes::roofline::structure::Share;
use crate::session::Session;

/// Threads of a block.
const THREADS: u32 = 256;

/// Bytes of a number.
const NUMBER: u64 = 4;

/// Bytes that a thread reads at once: four numbers.
const QUAD: u64 = 4 * NUMBER;

/// Operations of a multiplication with addition.
const OPERATIONS: u64 = 2;

/// Numbers of 32 neighbouring threads: the operations apply to all of them or to none.
const GROUP: u64 = 32 * QUAD / NUMBER;

/// Operations of one run of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Amount {
    /// Multiplications with addition for each number of a group.
    rounds: u32,
    /// The operations apply to one of this many groups.
    every: u32,
}

impl Amount {
    /// `alpha` operations for each byte in all of `rho` runs together. Both are powers of two, and so is the number of
    /// passes over each number: one or more, or one for a group of several.
    pub(super) fn of(alpha: f64, rho: u32) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "both are small")]
        let each = alpha * NUMBER as f64 / OPERATIONS as f64 / f64::from(rho);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small powers of two")]
        let (rounds, every) = (each.max(1.0) as u32, (1.0 / each).max(1.0) as u32);
        Self { rounds, every }
    }

    /// Operations of one run.
    pub(super) fn operations(self, share: &Share) -> u64 {
        let groups = (share.bytes() / NUMBER / GROUP).div_ceil(self.every.into());
        groups * GROUP * u64::from(self.rounds) * OPERATIONS
    }
}

/// The kernel and places for its results.
pub(super) struct Work {
    kernel: Kernel,
    grid: Grid,
    sums: DeviceMemory,
    results: DeviceMemory,
}

impl Work {
    /// As many threads as the GPU holds at once. The kernel runs once: its first launch loads it.
    pub(super) fn new(session: &Session<'_>) -> Result<Self, GpuError> {
        let kernel = session.kernel("touch_and_compute")?;
        let multiprocessors = u32::try_from(session.gpu.description.number("multiprocessors")).expect("there are few");
        let blocks = multiprocessors.max(1) * kernel.blocks_per_multiprocessor(THREADS, 0)?.max(1);
        let threads = u64::from(blocks * THREADS);
        let place = || session.gpu.device_memory(4 * threads);
        let work = Self { kernel, grid: Grid::new(blocks, THREADS), sums: place()?, results: place()? };
        work.run(session, &work.results, &Share::in_pages(0, 1), Amount::of(1.0, 1))?;
        Ok(work)
    }

    /// Seconds of one run on a structure.
    pub(super) fn run(
        &self,
        session: &Session<'_>,
        structure: &dyn Memory,
        share: &Share,
        amount: Amount,
    ) -> Result<f64, GpuError> {
        let arguments = [
            Argument::of(structure),
            Argument::Long(share.bytes() / QUAD),
            Argument::Word((share.run / QUAD).ilog2()),
            Argument::Long(share.spacing / QUAD),
            Argument::Word(amount.rounds),
            Argument::Word(amount.every),
            Argument::of(&self.sums),
            Argument::of(&self.results),
        ];
        let stream = &session.stream;
        session.stopwatch.time(stream, || self.kernel.launch(stream, self.grid, &arguments))
    }

    /// The last run has read every number of the share.
    ///
    /// # Errors
    /// It has not.
    pub(super) fn check(&self, share: &Share) -> Result<(), GpuError> {
        let threads = to_usize(self.sums.bytes() / 4);
        let found = self.sums.read::<u32>(threads)?.into_iter().fold(0, u32::wrapping_add);
        let expected = share.sum();
        if found == expected {
            return Ok(());
        }
        Err(GpuError::wrong_result("touch_and_compute", expected, found))
    }
}

#[cfg(test)]
mod tests {
    use super::Amount;

    #[test]
    fn few_operations_are_those_of_few_groups() {
        assert_eq!(Amount::of(256.0, 1), Amount { rounds: 512, every: 1 });
        assert_eq!(Amount::of(256.0, 8), Amount { rounds: 64, every: 1 });
        assert_eq!(Amount::of(0.5, 1), Amount { rounds: 1, every: 1 });
        assert_eq!(Amount::of(0.25, 1), Amount { rounds: 1, every: 2 });
        assert_eq!(Amount::of(0.25, 8), Amount { rounds: 1, every: 16 });
    }
}
