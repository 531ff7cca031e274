//! One probe in this process. Its after-effects must not reach the next probe: after a kernel's fault the driver
//! accepts no more work from a process, and it remembers for a process that processor and GPU competed for pages.

use octavo_gpu::{Effort, Gpu, GpuError, Measured, Probe, Request, describe, describe_host, find, measure};

use crate::arguments::Measure;
use crate::failure::Failure;
use crate::folder::{Folder, Sidecar};
use crate::kernels::Embedded;
use crate::messages::Told;
use crate::origin::Origin;
use octavo_gpu::Kernels;

/// Measures, writes, and reports to the parent process.
pub fn run(wanted: &Measure) -> Result<(), Failure> {
    let told = match measured(wanted) {
        Ok(rows) => Told::Finished { rows },
        Err(Failure::Gpu(GpuError::Stopped)) => return Ok(()),
        Err(failure) => Told::Failed { reason: failure.to_string() },
    };
    // Writing progress may fail if no one reads it.
    let _ = told.tell();
    Ok(())
}

/// Returns how many rows there are.
fn measured(wanted: &Measure) -> Result<usize, Failure> {
    let probe = find(&wanted.probe)?;
    let gpu = Gpu::open(wanted.gpu, &Embedded)?;
    let effort = if wanted.quick { Effort::Quick } else { Effort::Full };
    // As it was before the probe took any.
    let free = gpu.free_memory()?;
    let request = Request { effort, recording: wanted.cupti, point_time: wanted.point_time };
    let mut tell = |done: usize, of: usize, what: &str| Told::Step { done, of, what: what.to_owned() }.tell().is_ok();
    let found = measure(probe, &gpu, request, &mut tell)?;
    let rows = found.samples.len();
    write(wanted, probe, &gpu, (effort, free), &found)?;
    Ok(rows)
}

fn write(
    wanted: &Measure,
    probe: &dyn Probe,
    gpu: &Gpu,
    (effort, free): (Effort, u64),
    found: &Measured,
) -> Result<(), Failure> {
    let gpus = describe()?.len();
    let description = &gpu.description;
    let mut device = description.facts(Some(free), Embedded.compiler());
    device.push(("gpus", Some((gpus as u64).into())));
    let date = chrono::Utc::now().date_naive().to_string();
    let origin = Origin::new(probe, description, gpus, effort);
    let mut sidecar = Sidecar::new(probe.name(), date, origin, device, describe_host(&description.pci_bus_id));
    for (series, reason) in &found.skipped {
        sidecar.skipped.insert(series.clone(), reason.clone().into());
    }
    Folder::new(&wanted.output).keep(sidecar, found.samples.columns(), found.activity.as_ref())
}
