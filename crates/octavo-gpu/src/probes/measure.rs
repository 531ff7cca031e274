//! Runs one probe on one GPU.

use std::time::{Duration, Instant};

use crate::cupti::activity::Activity;
use crate::driver::gpu::Gpu;
use crate::error::GpuError;
use crate::session::effort::Request;
use crate::session::probe::Probe;
use crate::session::samples::Samples;
use crate::session::{Progress, Session};

/// What a probe leaves.
#[derive(Clone, Debug)]
pub struct Measured {
    /// What was measured.
    pub samples: Samples,
    /// Series that this GPU cannot have, with the reason.
    pub skipped: Vec<(String, String)>,
    /// The driver's state meanwhile, if it could be asked.
    pub activity: Option<Activity>,
}

/// Runs a probe on a GPU.
///
/// # Errors
/// The driver fails, or `progress` says stop.
pub fn measure(
    probe: &dyn Probe,
    gpu: &Gpu,
    request: Request,
    progress: &mut dyn Progress,
) -> Result<Measured, GpuError> {
    let mut session = Session::begin(gpu, request, probe.source(), progress)?;
    warm_up(gpu)?;
    probe.measure(&mut session)?;
    gpu.wait()?;
    let (samples, skipped, activity) = session.end();
    Ok(Measured { samples, skipped, activity })
}

/// An idle GPU lowers its clocks and its link; they go up again under load, within tens of milliseconds.
const WARM_UP: Duration = Duration::from_millis(100);

/// Bytes that the GPU fills during the warm-up; fewer if little memory is free.
const FILLED: u64 = 16 << 20;

fn warm_up(gpu: &Gpu) -> Result<(), GpuError> {
    let memory = gpu.device_memory((gpu.free_memory()? / 16).clamp(1, FILLED))?;
    let began = Instant::now();
    while began.elapsed() < WARM_UP {
        memory.fill(0)?;
    }
    Ok(())
}
