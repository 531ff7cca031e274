//! One probe on one GPU: progress, repetitions, what was measured and what was left out.

use std::time::{Duration, Instant};

use crate::error::GpuError;
use crate::event::Stopwatch;
use crate::gpu::Gpu;
use crate::kernel::Kernel;
use crate::probe::{Effort, Probe};
use crate::samples::{Row, Samples};
use crate::stream::Stream;

/// Told which step begins; says whether to go on.
pub trait Progress {
    /// Step `done` of `of` begins.
    fn step(&mut self, done: usize, of: usize, what: &str) -> bool;
}

impl<F: FnMut(usize, usize, &str) -> bool> Progress for F {
    fn step(&mut self, done: usize, of: usize, what: &str) -> bool {
        self(done, of, what)
    }
}

/// Records of the driver's unified-memory activity, as CUPTI gave them.
#[derive(Clone, Debug)]
pub struct Activity {
    /// Version of CUPTI (`cuptiGetVersion`).
    pub cupti: u32,
    /// Which version of the record it writes: `v2` (64 bytes) or `v3` (104).
    pub layout: &'static str,
    /// Whole records one after another, without the rest of their buffers.
    pub records: Vec<u8>,
    /// How many were lost.
    pub dropped: u64,
}

/// What a probe works with.
pub struct Session<'a> {
    /// The GPU.
    pub gpu: &'a Gpu,
    /// How much is to be measured.
    pub effort: Effort,
    /// A stream for the probe's work.
    pub stream: Stream,
    /// Time of that stream.
    pub stopwatch: Stopwatch,
    /// What the driver said meanwhile, if it could be asked.
    pub activity: Option<Activity>,
    samples: Samples,
    skipped: Vec<(String, String)>,
    probe: &'a dyn Probe,
    progress: &'a mut dyn Progress,
    done: usize,
    of: usize,
}

/// What a probe leaves.
#[derive(Clone, Debug)]
pub struct Measured {
    /// What was measured.
    pub samples: Samples,
    /// Series that this GPU cannot have, with the reason.
    pub skipped: Vec<(String, String)>,
    /// What the driver said meanwhile, if it could be asked.
    pub activity: Option<Activity>,
}

/// Runs a probe on a GPU.
///
/// # Errors
/// The driver fails, or `progress` says stop.
pub fn measure(
    probe: &dyn Probe,
    gpu: &Gpu,
    effort: Effort,
    progress: &mut dyn Progress,
) -> Result<Measured, GpuError> {
    let mut session = Session {
        gpu,
        effort,
        stream: gpu.stream()?,
        stopwatch: gpu.stopwatch(&probe.source())?,
        samples: Samples::default(),
        skipped: Vec::new(),
        activity: None,
        probe,
        progress,
        done: 0,
        of: 0,
    };
    warm_up(gpu)?;
    probe.measure(&mut session)?;
    gpu.wait()?;
    Ok(Measured { samples: session.samples, skipped: session.skipped, activity: session.activity })
}

/// An idle GPU lowers its clocks and its link; they go up again under load, within tens of milliseconds.
const WARM_UP: Duration = Duration::from_millis(100);

/// What the GPU does meanwhile: it fills so many bytes, less where little is free.
const FILLED: u64 = 16 << 20;

fn warm_up(gpu: &Gpu) -> Result<(), GpuError> {
    let memory = gpu.device_memory((gpu.free_memory()? / 16).clamp(1, FILLED))?;
    let began = Instant::now();
    while began.elapsed() < WARM_UP {
        memory.fill(0)?;
    }
    Ok(())
}

/// A row is measured at least so often, however long it takes.
const FEWEST: u32 = 3;

impl Session<'_> {
    /// How many steps there will be.
    pub fn steps(&mut self, of: usize) {
        self.of = of;
    }

    /// The next step begins.
    ///
    /// # Errors
    /// The user stops.
    pub fn step(&mut self, what: &str) -> Result<(), GpuError> {
        let go_on = self.progress.step(self.done, self.of.max(self.done + 1), what);
        self.done += 1;
        if go_on { Ok(()) } else { Err(GpuError::Stopped) }
    }

    /// The one or the other, by effort.
    pub fn choose<T>(&self, quick: T, full: T) -> T {
        self.effort.choose(quick, full)
    }

    /// Leaves a series out.
    pub fn skip(&mut self, series: &str, reason: impl Into<String>) {
        self.skipped.push((series.to_owned(), reason.into()));
    }

    /// One of the probe's kernels.
    ///
    /// # Errors
    /// No compiler, or it does not compile.
    pub(crate) fn kernel(&self, name: &str) -> Result<Kernel, GpuError> {
        self.gpu.module(&self.probe.source())?.kernel(name)
    }

    /// A row in which nothing is timed.
    pub(crate) fn note(&mut self, row: Row) {
        self.samples.push(row, 0, None);
    }

    /// Measures a row again and again (5 or 21 times, fewer where it takes long), after once for warming up, and keeps
    /// each time. `once` returns seconds.
    ///
    /// # Errors
    /// What `once` fails with.
    pub(crate) fn repeat(
        &mut self,
        row: &Row,
        mut once: impl FnMut(&Self) -> Result<f64, GpuError>,
    ) -> Result<(), GpuError> {
        once(self)?;
        self.repeat_cold(row, once)
    }

    /// Like [`Self::repeat`], for what is never the same after the first time: nothing is measured for warming up.
    ///
    /// # Errors
    /// What `once` fails with.
    pub(crate) fn repeat_cold(
        &mut self,
        row: &Row,
        mut once: impl FnMut(&Self) -> Result<f64, GpuError>,
    ) -> Result<(), GpuError> {
        self.repeat_rows(|session| Ok(vec![(row.clone(), once(session)?)]))
    }

    /// Like [`Self::repeat_cold`], where one time through gives several rows, each with its seconds.
    ///
    /// # Errors
    /// What `once` fails with.
    pub(crate) fn repeat_rows(
        &mut self,
        mut once: impl FnMut(&Self) -> Result<Vec<(Row, f64)>, GpuError>,
    ) -> Result<(), GpuError> {
        let most = self.choose(5, 21);
        let patience = self.choose(Duration::from_millis(50), Duration::from_millis(500));
        let began = Instant::now();
        for repetition in 0..most {
            if repetition >= FEWEST && began.elapsed() > patience {
                break;
            }
            for (row, seconds) in once(self)? {
                self.samples.push(row, repetition, Some(seconds));
            }
        }
        Ok(())
    }
}

/// Seconds on the host's clock that `work` takes.
///
/// # Errors
/// What `work` fails with.
pub(crate) fn host_seconds(work: impl FnOnce() -> Result<(), GpuError>) -> Result<f64, GpuError> {
    let began = Instant::now();
    work()?;
    Ok(began.elapsed().as_secs_f64())
}
