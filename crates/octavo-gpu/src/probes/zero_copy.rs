//! Bandwidth and latency of the GPU's own accesses to pinned host memory.

use std::cell::Cell;

use crate::driver::buffers::{DeviceMemory, PinnedMemory};
use crate::driver::kernel::{Argument, Grid, Kernel};
use crate::driver::memory::{Memory, Touchable, View, to_usize};
use crate::driver::source::Source;
use crate::error::GpuError;
use crate::probes::check::{BYTE, expect, sum_of_words};
use crate::probes::sizes::powers_of_two;
use crate::session::Session;
use crate::session::probe::Probe;
use crate::session::samples::Row;

/// Reads and writes of pinned host memory by kernels.
pub(crate) struct ZeroCopy;

/// Accesses of a launch: 64 MiB at 16 bytes each, a millisecond at the usual rates of such links, ten if each access is
/// a separate transfer. Quick has 72 rows (3 s), full 330 (30 s).
const ACCESSES: u64 = 4 << 20;

/// Accesses of a thread: enough that the beginning and the end of the launch do not matter, but not so many that one
/// warp is slow.
const FEWEST: u64 = 16;
const MOST: u64 = 1024;

/// Warps of a block at most.
const BLOCK: u32 = 8;

const WIDTHS_QUICK: &[u64] = &[4, 16];
const WIDTHS_FULL: &[u64] = &[4, 8, 16];

/// Bytes from one access to the next: lines of neighbours in one page, and pages.
const STRIDES_QUICK: &[u64] = &[256];
const STRIDES_FULL: &[u64] = &[64, 256, 4096];

impl Probe for ZeroCopy {
    fn name(&self) -> &'static str {
        "zero_copy"
    }

    fn title(&self) -> &'static str {
        "reads and writes of pinned host memory by kernels"
    }

    fn about(&self) -> &'static str {
        "Kernels read or write pinned host memory of eight times the L2 cache, 4 to 16 bytes a thread, four accesses \
         in flight: neighbours together, with a stride between them, or anywhere (by hash), with one warp in all up to \
         all that the GPU holds, spread over the multiprocessors. Each launch goes on where the one before has ended. \
         By events of the GPU; bytes are those that threads ask for. `stride` is the distance between accesses; for \
         random ones, what their places are multiples of."
    }

    fn source(&self) -> Source {
        Source { name: "zero_copy.cu", body: include_str!("zero_copy.cu") }
    }

    fn measure(&self, session: &mut Session<'_>) -> Result<(), GpuError> {
        let widths = session.choose(WIDTHS_QUICK, WIDTHS_FULL);
        let strides = session.choose(STRIDES_QUICK, STRIDES_FULL);
        let patterns = Pattern::all(strides);
        session.steps(2 * widths.len() * patterns.len());
        let work = Work::new(session)?;
        for operation in [Operation::Read, Operation::Write] {
            for &width in widths {
                let kernel = session.kernel(&format!("{}_by_{width}", operation.name()))?;
                for &pattern in &patterns {
                    session.step(&format!("{} {}s of {width} bytes", pattern.name(), operation.name()))?;
                    work.pattern(session, operation, &kernel, width, pattern)?;
                }
            }
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Operation {
    Read,
    Write,
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

#[derive(Clone, Copy)]
enum Pattern {
    Sequential,
    Strided(u64),
    Random,
}

impl Pattern {
    fn all(strides: &[u64]) -> Vec<Self> {
        let strided = strides.iter().map(|&stride| Self::Strided(stride));
        [Self::Sequential].into_iter().chain(strided).chain([Self::Random]).collect()
    }

    fn name(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Strided(_) => "strided",
            Self::Random => "random",
        }
    }

    /// Bytes between accesses, or a common factor of their places.
    fn stride(self, width: u64) -> u64 {
        match self {
            Self::Strided(stride) => stride,
            Self::Sequential | Self::Random => width,
        }
    }
}

struct Work {
    memory: PinnedMemory,
    bits: u32,
    warps: Vec<u32>,
    sums: DeviceMemory,
    /// Number of the next access.
    first: Cell<u64>,
}

impl Work {
    fn new(session: &Session<'_>) -> Result<Self, GpuError> {
        let (each, all) = (session.gpu.multiprocessors(), session.gpu.warps_per_multiprocessor());
        let memory = session.gpu.pinned_memory(8 * session.gpu.l2())?;
        memory.host_fills(BYTE, 0, memory.bytes());
        Ok(Self {
            bits: memory.bytes().ilog2(),
            memory,
            warps: warps(each, all, session.choose(3, 2), session.choose(3, 1)),
            sums: session.gpu.device_memory(4 * 32 * u64::from(each * all))?,
            first: Cell::new(0),
        })
    }

    fn pattern(
        &self,
        session: &mut Session<'_>,
        operation: Operation,
        kernel: &Kernel,
        width: u64,
        pattern: Pattern,
    ) -> Result<(), GpuError> {
        for &warps in &self.warps {
            let grid = spread(warps, session.gpu.multiprocessors());
            let accesses = accesses(grid.all_threads());
            let all = accesses * grid.all_threads();
            let row = Row::of("zero_copy").word("operation", operation.name()).word("pattern", pattern.name());
            let row = row.integer("width", width).integer("warps", warps.into());
            let row = row.integer("stride", pattern.stride(width)).bytes(all * width).count(all);
            let begin = Cell::new(0);
            session.repeat(&row, |session| {
                begin.set(self.first.get());
                self.first.set(begin.get() + all);
                let arguments = self.arguments(operation, pattern, width, begin.get(), accesses);
                session.stopwatch.time(&session.stream, || kernel.launch(&session.stream, grid, &arguments))
            })?;
            match operation {
                Operation::Read => {
                    let sum = sum_of_words(accesses * width / 4);
                    expect(kernel.name(), &self.sums, &vec![sum; to_usize(grid.all_threads())])?;
                }
                Operation::Write => self.find_written(kernel, pattern, width, begin.get()..begin.get() + all)?,
            }
        }
        Ok(())
    }

    fn arguments(
        &self,
        operation: Operation,
        pattern: Pattern,
        width: u64,
        first: u64,
        accesses: u64,
    ) -> [Argument; 6] {
        let stride = if let Pattern::Random = pattern { 0 } else { pattern.stride(width) };
        [
            Argument::of(&self.memory),
            Argument::Word(self.bits),
            Argument::Long(stride),
            Argument::Long(first),
            Argument::Word(u32::try_from(accesses).expect("few accesses a thread")),
            match operation {
                Operation::Read => Argument::of(&self.sums),
                Operation::Write => Argument::Word(mark(first)),
            },
        ]
    }

    /// The host checks what the first and the last access have written, if their places are not random.
    fn find_written(
        &self,
        kernel: &Kernel,
        pattern: Pattern,
        width: u64,
        accesses: std::ops::Range<u64>,
    ) -> Result<(), GpuError> {
        if let Pattern::Random = pattern {
            return Ok(());
        }
        for access in [accesses.start, accesses.end - 1] {
            let found: u32 = View::of(&self.memory).get(offset(access, self.bits, pattern.stride(width), width));
            if found != mark(accesses.start) {
                return Err(GpuError::wrong_result(kernel.name(), mark(accesses.start), found));
            }
        }
        Ok(())
    }
}

/// The word that a launch writes from that access on: a different one from the launch before.
fn mark(first: u64) -> u32 {
    let [a, b, c, d, ..] = (first + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
    u32::from_be_bytes([a, b, c, d])
}

/// The place where zero_copy.cu puts the access with that number.
fn offset(access: u64, bits: u32, stride: u64, width: u64) -> u64 {
    let linear = access * stride;
    (linear & ((1 << bits) - 1)) + (((linear >> bits) * width) & (stride - 1))
}

/// Numbers of warps, in all: powers of two (every few) below one on each multiprocessor, then as many on each up to
/// all it holds.
fn warps(multiprocessors: u32, each: u32, every_below: u32, every: u32) -> Vec<u32> {
    let below = powers_of_two(1, u64::from(multiprocessors) - 1, every_below);
    let above = powers_of_two(1, u64::from(each), every).into_iter().map(|warps| warps * u64::from(multiprocessors));
    let all = multiprocessors * each;
    let mut warps: Vec<u32> = below.into_iter().chain(above).filter_map(|warps| u32::try_from(warps).ok()).collect();
    if warps.last() != Some(&all) {
        warps.push(all);
    }
    warps
}

/// Spread over the multiprocessors as evenly as blocks of whole warps allow.
fn spread(warps: u32, multiprocessors: u32) -> Grid {
    let each = (warps / multiprocessors).clamp(1, BLOCK);
    let each = (1..=each).rev().find(|each| warps.is_multiple_of(*each)).unwrap_or(1);
    Grid::new(warps / each, 32 * each)
}

/// For each thread, a multiple of the four that are in flight together.
fn accesses(threads: u64) -> u64 {
    (ACCESSES / threads).clamp(FEWEST, MOST) / 4 * 4
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{accesses, offset, spread, warps};

    #[test]
    fn accesses_of_a_stride_come_to_every_place_once() {
        for (stride, width) in [(16, 16), (4, 4), (64, 16), (256, 4), (4096, 8)] {
            let places: BTreeSet<u64> =
                (0..(1 << 16) / width).map(|access| offset(access, 16, stride, width)).collect();
            assert_eq!(places.len() as u64, (1 << 16) / width, "stride {stride}, width {width}");
            assert!(places.iter().all(|place| place % width == 0 && place + width <= 1 << 16));
        }
    }

    #[test]
    fn warps_go_from_one_to_all() {
        assert_eq!(warps(132, 64, 2, 1), [1, 4, 16, 64, 132, 264, 528, 1056, 2112, 4224, 8448]);
        assert_eq!(warps(132, 48, 3, 3), [1, 8, 64, 132, 1056, 6336]);
        assert_eq!(warps(2, 8, 3, 3), [1, 2, 16]);
        assert_eq!(warps(1, 32, 2, 2), [1, 4, 16, 32]);
    }

    #[test]
    fn all_warps_are_launched_and_no_block_is_too_large() {
        for multiprocessors in [1, 2, 82, 132] {
            for count in warps(multiprocessors, 48, 1, 1) {
                let grid = spread(count, multiprocessors);
                assert_eq!(grid.all_threads(), 32 * u64::from(count));
                assert!(grid.threads <= 256);
            }
        }
    }

    #[test]
    fn threads_make_whole_rounds_of_accesses() {
        for threads in [32, 1000, 8448 * 32] {
            assert!(accesses(threads).is_multiple_of(4) && accesses(threads) >= 16);
        }
    }
}
