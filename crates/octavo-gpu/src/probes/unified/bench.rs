//! Parts that all series share: fresh memory of the probe's kind, touches from either side, refusals of the driver.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::driver::buffers::DeviceMemory;
use crate::driver::gpu::Gpu;
use crate::driver::kernel::{Argument, Grid, Kernel};
use crate::driver::memory::{BLOCK, Memory, Moving, PAGE, to_usize};
use crate::driver::place::Place;
use crate::error::GpuError;
use crate::probes::sizes::power_within;
use crate::probes::unified::host;
use crate::session::effort::Effort;
use crate::session::{Session, host_seconds};

/// Threads of a block that touches everything.
const THREADS: u32 = 256;

/// Which memory a probe is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Managed,
    System,
}

/// Kernels, places for their results, and the memory that the series touch.
pub(super) struct Bench<'a> {
    pub(super) gpu: &'a Gpu,
    pub(super) effort: Effort,
    kind: Kind,
    mark: Kernel,
    touch: Kernel,
    time: Kernel,
    read: Kernel,
    write: Kernel,
    sums: DeviceMemory,
    refusals: RefCell<BTreeMap<&'static str, BTreeSet<String>>>,
}

/// The results of one thread's touches: the word of each page and the seconds that it waited for it.
pub(super) struct Touches {
    pub(super) words: Vec<u64>,
    pub(super) seconds: Vec<f64>,
}

impl<'a> Bench<'a> {
    /// Each kernel runs once on a few pages: its first launch loads it.
    pub(super) fn new(session: &Session<'a>, kind: Kind) -> Result<Self, GpuError> {
        let bench = Self {
            gpu: session.gpu,
            effort: session.request.effort,
            kind,
            mark: session.kernel("mark_pages")?,
            touch: session.kernel("touch_pages")?,
            time: session.kernel("time_pages")?,
            read: session.kernel("read_words")?,
            write: session.kernel("write_words")?,
            sums: session.gpu.device_memory(8 * u64::from(wide(session.gpu).blocks * THREADS))?,
            refusals: RefCell::default(),
        };
        bench.warm_up(session)?;
        Ok(bench)
    }

    fn warm_up(&self, session: &Session<'_>) -> Result<(), GpuError> {
        let memory = self.fresh(BLOCK)?;
        self.gpu_writes(session, memory.as_ref(), 0)?;
        self.gpu_reads(session, memory.as_ref())?;
        self.gpu_marks(session, memory.as_ref(), 0)?;
        let order = self.order(&[0])?;
        self.gpu_touches(session, memory.as_ref(), &order, 1)?;
        self.gpu_times(session, memory.as_ref(), &order).map(|_| ())
    }

    pub(super) fn choose<T>(&self, quick: T, full: T) -> T {
        self.effort.choose(quick, full)
    }

    /// The sizes that leave the GPU most of its memory free. The first one, the smallest possible, is always among
    /// them.
    pub(super) fn fitting(&self, sizes: &[u64]) -> Vec<u64> {
        fitting(sizes, self.gpu.managed_limit())
    }

    /// Untouched memory, of a driver's block or more.
    pub(super) fn fresh(&self, bytes: u64) -> Result<Box<dyn Moving>, GpuError> {
        let bytes = bytes.max(BLOCK);
        match self.kind {
            Kind::Managed => Ok(Box::new(self.gpu.managed_memory(bytes)?)),
            Kind::System => Ok(Box::new(self.gpu.system_memory(bytes)?)),
        }
    }

    /// Memory that the processor has written, and nothing else touched.
    pub(super) fn of_host(&self, bytes: u64) -> Result<Box<dyn Moving>, GpuError> {
        let memory = self.fresh(bytes)?;
        host::marks_pages(memory.as_ref(), 0);
        Ok(memory)
    }

    /// Memory that the GPU has written, and nothing else touched.
    pub(super) fn of_gpu(&self, session: &Session<'_>, bytes: u64) -> Result<Box<dyn Moving>, GpuError> {
        let memory = self.fresh(bytes)?;
        self.gpu_marks(session, memory.as_ref(), 0)?;
        Ok(memory)
    }

    /// A table of pages in the GPU's own memory.
    pub(super) fn order(&self, pages: &[u32]) -> Result<DeviceMemory, GpuError> {
        let order = self.gpu.device_memory(4 * pages.len() as u64)?;
        order.write(pages)?;
        Ok(order)
    }

    /// This GPU, as a place for memory.
    pub(super) fn here(&self) -> Place {
        Place::Gpu(self.gpu.description.index)
    }

    /// Seconds in which the GPU writes the first word of every page.
    pub(super) fn gpu_marks(&self, session: &Session<'_>, memory: &dyn Moving, stamp: u64) -> Result<f64, GpuError> {
        let arguments = [pointer(memory), Argument::Long(memory.bytes() / PAGE), Argument::Long(stamp)];
        self.timed(session, &self.mark, wide(self.gpu), &arguments)
    }

    /// Seconds in which `blocks` threads, each in its own thread block, read the pages of a table in turn.
    pub(super) fn gpu_touches(
        &self,
        session: &Session<'_>,
        memory: &dyn Moving,
        order: &DeviceMemory,
        blocks: u32,
    ) -> Result<f64, GpuError> {
        let count = order.bytes() / 4;
        let arguments = [pointer(memory), Argument::of(order), Argument::Long(count), Argument::of(&self.sums)];
        self.timed(session, &self.touch, Grid::new(blocks, 1), &arguments)
    }

    /// Sum of the words that `blocks` threads have just read.
    pub(super) fn sum(&self, blocks: u32) -> Result<u64, GpuError> {
        let sums = self.sums.read::<u64>(to_usize(blocks.into()))?;
        Ok(sums.into_iter().fold(0, u64::wrapping_add))
    }

    /// The most threads whose sums fit.
    pub(super) fn most_blocks(&self) -> u32 {
        wide(self.gpu).blocks * THREADS
    }

    /// One thread reads the pages of a table; each touch is timed by itself, and cycles become seconds from readings of
    /// both clocks before and after all of them.
    pub(super) fn gpu_times(
        &self,
        session: &Session<'_>,
        memory: &dyn Moving,
        order: &DeviceMemory,
    ) -> Result<Touches, GpuError> {
        let count = order.bytes() / 4;
        let (words, waited) = (self.gpu.device_memory(8 * count)?, self.gpu.device_memory(8 * count)?);
        let clocks = self.gpu.device_memory(4 * 8)?;
        let results = [Argument::of(&words), Argument::of(&waited), Argument::of(&clocks)];
        let arguments = [&[pointer(memory), Argument::of(order), Argument::Long(count)][..], &results].concat();
        self.timed(session, &self.time, Grid::new(1, 1), &arguments)?;
        let count = to_usize(count);
        let second = seconds_per_cycle(&clocks.read::<u64>(4)?);
        #[expect(clippy::cast_precision_loss, reason = "waits are far below 2^52 cycles")]
        let seconds = waited.read::<u64>(count)?.into_iter().map(|cycles| cycles as f64 * second).collect();
        Ok(Touches { words: words.read(count)?, seconds })
    }

    /// Seconds in which the GPU reads everything.
    pub(super) fn gpu_reads(&self, session: &Session<'_>, memory: &dyn Moving) -> Result<f64, GpuError> {
        let arguments = [pointer(memory), Argument::Long(memory.bytes() / 8), Argument::of(&self.sums)];
        self.timed(session, &self.read, wide(self.gpu), &arguments)
    }

    /// Seconds in which the GPU writes everything.
    pub(super) fn gpu_writes(&self, session: &Session<'_>, memory: &dyn Moving, word: u64) -> Result<f64, GpuError> {
        let arguments = [pointer(memory), Argument::Long(memory.bytes() / 8), Argument::Long(word)];
        self.timed(session, &self.write, wide(self.gpu), &arguments)
    }

    /// Seconds in which the processor reads every cache line.
    pub(super) fn cpu_reads(&self, memory: &dyn Moving) -> Result<f64, GpuError> {
        host_seconds(|| {
            memory.host_reads(memory.bytes(), host::LINE);
            Ok(())
        })
    }

    /// Seconds in which the processor writes every cache line.
    pub(super) fn cpu_writes(&self, memory: &dyn Moving) -> Result<f64, GpuError> {
        host_seconds(|| {
            memory.host_writes(memory.bytes(), host::LINE);
            Ok(())
        })
    }

    /// Seconds in which the processor writes the first word of every page.
    pub(super) fn cpu_marks(&self, memory: &dyn Moving, stamp: u64) -> Result<f64, GpuError> {
        host_seconds(|| {
            host::marks_pages(memory, stamp);
            Ok(())
        })
    }

    /// Whether the driver does `what` with this kind of memory; if not, the series (or a part of it) is left out, and
    /// the driver's words are kept.
    pub(super) fn allowed(
        &self,
        series: &'static str,
        part: &str,
        what: impl FnOnce(&dyn Moving) -> Result<(), GpuError>,
    ) -> Result<bool, GpuError> {
        let memory = self.of_host(BLOCK)?;
        match what(memory.as_ref()) {
            Ok(()) => Ok(true),
            Err(error @ GpuError::Call { call: "cuMemAdvise" | "cuMemPrefetchAsync", .. }) => {
                let reason = if part.is_empty() { error.to_string() } else { format!("{part}: {error}") };
                self.refusals.borrow_mut().entry(series).or_default().insert(reason);
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// One reason for each series with a refused part.
    pub(super) fn report_refusals(&self, session: &mut Session<'_>) {
        for (series, reasons) in self.refusals.take() {
            session.skip(series, reasons.into_iter().collect::<Vec<_>>().join("; "));
        }
    }

    fn timed(
        &self,
        session: &Session<'_>,
        kernel: &Kernel,
        grid: Grid,
        arguments: &[Argument],
    ) -> Result<f64, GpuError> {
        session.stopwatch.time(&session.stream, || kernel.launch(&session.stream, grid, arguments))
    }
}

/// The sum that touching these pages once must give.
pub(super) fn sum_of(pages: &[u32]) -> u64 {
    pages.iter().map(|&page| u64::from(page)).sum()
}

/// The kernel read what was written, where it was told to.
///
/// # Errors
/// It did not: what was timed is not what the series says.
pub(super) fn expect_sum(kernel: &'static str, expected: u64, found: u64) -> Result<(), GpuError> {
    if found == expected { Ok(()) } else { Err(GpuError::wrong_result(kernel, expected, found)) }
}

/// The probes touch less than a quarter of the free memory; a quarter of that is enough for each of them.
fn fitting(sizes: &[u64], limit: u64) -> Vec<u64> {
    let most = (limit / 4).max(BLOCK);
    let mut kept: Vec<u64> = sizes.iter().copied().filter(|&size| size <= most).collect();
    if kept.is_empty() {
        kept.push(power_within(most));
    }
    kept
}

fn seconds_per_cycle(clocks: &[u64]) -> f64 {
    let (cycles, nanoseconds) = (clocks[2].wrapping_sub(clocks[0]), clocks[3].wrapping_sub(clocks[1]));
    #[expect(clippy::cast_precision_loss, reason = "a kernel takes far less than 2^52 cycles")]
    let ratio = nanoseconds as f64 / cycles.max(1) as f64;
    ratio * 1e-9
}

fn pointer(memory: &dyn Moving) -> Argument {
    Argument::Pointer(memory.address())
}

/// Enough threads to keep every multiprocessor busy: all of those that the smallest ones hold (1024), and as many again
/// where they hold more.
fn wide(gpu: &Gpu) -> Grid {
    let multiprocessors = u32::try_from(gpu.description.number("multiprocessors")).expect("there are few");
    Grid::new(8 * multiprocessors.max(1), THREADS)
}

#[cfg(test)]
mod tests {
    use super::{fitting, seconds_per_cycle};

    const MIB: u64 = 1 << 20;

    #[test]
    fn sizes_leave_the_gpu_most_of_its_memory() {
        let sizes = [2 * MIB, 16 * MIB, 64 * MIB, 1024 * MIB];
        assert_eq!(fitting(&sizes, 40 << 30), sizes);
        assert_eq!(fitting(&sizes, 128 * MIB), [2 * MIB, 16 * MIB]);
        assert_eq!(fitting(&sizes[2..], 128 * MIB), [32 * MIB]);
        assert_eq!(fitting(&sizes[2..], 0), [2 * MIB]);
    }

    #[test]
    fn cycles_become_seconds_by_the_clocks_readings() {
        let seconds = seconds_per_cycle(&[1_000, 50, 3_001_000, 2_000_050]);
        assert!((seconds - 2.0 / 3.0 * 1e-9).abs() < 1e-18, "{seconds}");
        assert_eq!(seconds_per_cycle(&[5, 5, 5, 5]), 0.0);
    }
}
