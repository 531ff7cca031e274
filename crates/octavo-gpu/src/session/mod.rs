//! The environment of a probe: progress, repetitions, measurements and what was left out.

pub(crate) mod effort;
pub(crate) mod probe;
pub(crate) mod samples;

use std::time::Instant;

use crate::cupti::activity::Activity;
use crate::driver::event::Stopwatch;
use crate::driver::gpu::Gpu;
use crate::driver::kernel::Kernel;
use crate::driver::source::Source;
use crate::driver::stream::Stream;
use crate::error::GpuError;
use crate::session::effort::Request;
use crate::session::samples::{Row, Samples};

/// Called when a step begins; returns whether to continue.
pub trait Progress {
    /// Step `done` of `of` begins.
    fn step(&mut self, done: usize, of: usize, what: &str) -> bool;
}

impl<F: FnMut(usize, usize, &str) -> bool> Progress for F {
    fn step(&mut self, done: usize, of: usize, what: &str) -> bool {
        self(done, of, what)
    }
}

/// The environment of a probe.
pub struct Session<'a> {
    /// The GPU.
    pub gpu: &'a Gpu,
    /// The request to it.
    pub request: Request,
    /// A stream for the probe's work.
    pub stream: Stream,
    /// Time of that stream.
    pub stopwatch: Stopwatch,
    /// The driver's state meanwhile, if it could be asked.
    pub activity: Option<Activity>,
    samples: Samples,
    skipped: Vec<(String, String)>,
    source: Source,
    progress: &'a mut dyn Progress,
    done: usize,
    of: usize,
}

/// A row is measured at least so often, however long it takes.
const FEWEST: u32 = 3;

impl<'a> Session<'a> {
    /// A session for the kernels of that source.
    ///
    /// # Errors
    /// The driver fails, or the source does not compile.
    pub(crate) fn begin(
        gpu: &'a Gpu,
        request: Request,
        source: Source,
        progress: &'a mut dyn Progress,
    ) -> Result<Self, GpuError> {
        Ok(Self {
            gpu,
            request,
            stream: gpu.stream()?,
            stopwatch: gpu.stopwatch(&source)?,
            activity: None,
            samples: Samples::default(),
            skipped: Vec::new(),
            source,
            progress,
            done: 0,
            of: 0,
        })
    }

    /// Its output: samples, skipped series with the reason, the driver's records.
    pub(crate) fn end(self) -> (Samples, Vec<(String, String)>, Option<Activity>) {
        (self.samples, self.skipped, self.activity)
    }

    /// The number of steps.
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

    /// `quick` or `full`, by effort.
    pub fn choose<T>(&self, quick: T, full: T) -> T {
        self.request.effort.choose(quick, full)
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
        self.gpu.module(&self.source)?.kernel(name)
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

    /// Like [`Self::repeat`], for work that differs the first time: there are no warm-up measurements.
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
        let point_time = self.request.point_time();
        let began = Instant::now();
        for repetition in 0..most {
            if repetition >= FEWEST && began.elapsed() > point_time {
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
