//! Probes of real GPUs: columns of samples out.

use octavo_gpu::{Architecture, Column, Effort, Fact, Facts, Gpu, GpuError, Kernels, Measured, Nvrtc, Probe, Request};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::errors::{self, UnknownGpuProbe};

/// Name, title, description, kernels and digest of every probe, in the order in which they run.
#[pyfunction]
pub fn gpu_probes(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let probes = octavo_gpu::probes().iter().map(|probe| {
        let entry = PyDict::new(py);
        entry.set_item("name", probe.name())?;
        entry.set_item("title", probe.title())?;
        entry.set_item("about", probe.about())?;
        entry.set_item("source", probe.source().text())?;
        entry.set_item("digest", probe.digest())?;
        Ok(entry)
    });
    PyList::new(py, probes.collect::<PyResult<Vec<_>>>()?)
}

/// The driver's description of every GPU of this machine.
#[pyfunction]
pub fn gpu_describe(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let found = octavo_gpu::describe().map_err(|error| errors::gpu(&error))?;
    let compiler = Nvrtc.compiler();
    let entries = found.iter().map(|description| {
        // `None` if the GPU admits no other process; it need not be the GPU that is wanted.
        let free = Gpu::open(description.index, &Nvrtc).and_then(|gpu| gpu.free_memory()).ok();
        dictionary(py, description.facts(free, compiler.clone()))
    });
    PyList::new(py, entries.collect::<PyResult<Vec<_>>>()?)
}

/// The host's description of itself, and of the place of a GPU on the PCI bus.
#[pyfunction]
pub fn gpu_host<'py>(py: Python<'py>, pci_bus_id: &str) -> PyResult<Bound<'py, PyDict>> {
    dictionary(py, octavo_gpu::describe_host(pci_bus_id))
}

fn dictionary(py: Python<'_>, facts: Facts) -> PyResult<Bound<'_, PyDict>> {
    let entry = PyDict::new(py);
    for (name, fact) in facts {
        match fact {
            Some(Fact::Number(number)) => entry.set_item(name, number)?,
            Some(Fact::Words(words)) => entry.set_item(name, words)?,
            Some(Fact::Is(so)) => entry.set_item(name, so)?,
            None => entry.set_item(name, py.None())?,
        }
    }
    Ok(entry)
}

/// Runs one probe; `progress(done, of, what)` is called for each step, and its exceptions end the probe.
#[pyfunction]
pub fn gpu_probe<'py>(
    py: Python<'py>,
    name: &str,
    gpu: usize,
    quick: bool,
    progress: Py<PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    let probe = octavo_gpu::find(name).map_err(|error| UnknownGpuProbe::new_err(error.to_string()))?;
    let effort = if quick { Effort::Quick } else { Effort::Full };
    let request = Request { effort, recording: true, point_time: None };
    let measured = py.detach(|| measure(probe, gpu, request, &progress))?;
    let columns = PyDict::new(py);
    for (name, column) in measured.samples.columns() {
        match column {
            Column::Integers(values) => columns.set_item(name, values)?,
            Column::Numbers(values) => columns.set_item(name, values)?,
            Column::Words(values) => columns.set_item(name, values)?,
        }
    }
    let result = PyDict::new(py);
    result.set_item("columns", columns)?;
    result.set_item("skipped", &measured.skipped)?;
    result.set_item("activity", activity(py, &measured)?)?;
    Ok(result)
}

/// Releases Python's lock between the steps, so that others may show the progress.
fn measure(probe: &dyn Probe, gpu: usize, request: Request, progress: &Py<PyAny>) -> PyResult<Measured> {
    let mut raised = None;
    let mut tell = |done: usize, of: usize, what: &str| {
        let told = Python::attach(|py| progress.call1(py, (done, of, what)).and_then(|_| py.check_signals()));
        told.map_err(|error| raised = Some(error)).is_ok()
    };
    let measured = Gpu::open(gpu, &Nvrtc).and_then(|gpu| octavo_gpu::measure(probe, &gpu, request, &mut tell));
    measured.map_err(|error| raised.unwrap_or_else(|| errors::gpu(&error)))
}

fn activity<'py>(py: Python<'py>, measured: &Measured) -> PyResult<Option<Bound<'py, PyDict>>> {
    let Some(activity) = &measured.activity else { return Ok(None) };
    let entry = PyDict::new(py);
    entry.set_item("cupti", activity.cupti)?;
    entry.set_item("layout", activity.layout)?;
    entry.set_item("records", PyBytes::new(py, &activity.records))?;
    entry.set_item("dropped", activity.dropped)?;
    Ok(Some(entry))
}

/// Compiles a probe's kernels for an architecture such as `sm_90`.
#[pyfunction]
pub fn gpu_compile<'py>(py: Python<'py>, name: &str, architecture: &str) -> PyResult<Bound<'py, PyBytes>> {
    let probe = octavo_gpu::find(name).map_err(|error| UnknownGpuProbe::new_err(error.to_string()))?;
    let wanted = Architecture::parse(architecture)
        .ok_or_else(|| errors::gpu(&GpuError::UnknownArchitecture(architecture.to_owned())))?;
    let code = octavo_gpu::compile(&probe.source(), wanted).map_err(|error| errors::gpu(&error))?;
    Ok(PyBytes::new(py, code.bytes()))
}
