//! Time as the GPU sees it.

use cudarc::driver::{result, sys};

use crate::driver::kernel::{Argument, Grid, Kernel};
use crate::driver::stream::Stream;
use crate::error::{Called, GpuError};

/// How long the GPU is held up before the timed work, in nanoseconds: ten times what the host needs for an event and a
/// launch. An idle GPU would pass the first event before the launch behind it has come, and time the host.
const HELD: u64 = 50_000;

/// Two events in a stream and the time between them.
pub struct Stopwatch {
    begin: Event,
    end: Event,
    hold: Kernel,
}

impl Stopwatch {
    pub(crate) fn new(hold: Kernel) -> Result<Self, GpuError> {
        Ok(Self { begin: Event::new()?, end: Event::new()?, hold })
    }

    /// Seconds that the GPU needs for the work that `work` puts into the stream; waits for it.
    ///
    /// # Errors
    /// The driver or `work` fails.
    pub fn time(&self, stream: &Stream, work: impl FnOnce() -> Result<(), GpuError>) -> Result<f64, GpuError> {
        self.hold.launch(stream, Grid::new(1, 1), &[Argument::Long(HELD)])?;
        self.begin.record(stream)?;
        work()?;
        self.end.record(stream)?;
        stream.wait()?;
        // SAFETY: both events were recorded and have happened.
        let milliseconds = unsafe { result::event::elapsed(self.begin.0, self.end.0) }.called("cuEventElapsedTime")?;
        Ok(f64::from(milliseconds) * 1e-3)
    }
}

struct Event(sys::CUevent);

impl Event {
    fn new() -> Result<Self, GpuError> {
        result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT).called("cuEventCreate").map(Self)
    }

    fn record(&self, stream: &Stream) -> Result<(), GpuError> {
        // SAFETY: event and stream are alive.
        unsafe { result::event::record(self.0, stream.handle()) }.called("cuEventRecord")
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: destroyed once.
        let _ = unsafe { result::event::destroy(self.0) };
    }
}
