//! Foreign traces, converted.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use octavo_trace::convert::{CONVERTERS, Conversion, ConvertError, Progress};
use pyo3::prelude::*;

use crate::errors::{Interrupted, TraceError};

/// Wall time between calls of the progress callback.
const BETWEEN_REPORTS: Duration = Duration::from_millis(50);

/// Every format that can be converted: name, summary, source.
#[pyfunction]
pub fn trace_formats() -> Vec<(&'static str, &'static str, &'static str)> {
    CONVERTERS.iter().map(|converter| (converter.name, converter.summary, converter.source)).collect()
}

/// Converts the foreign trace `input` into the trace folder `output`; returns the summary as JSON.
///
/// Without `format` it is detected from the input; with `replace` an existing trace is replaced. `progress`, if given,
/// is called a few times a second with the share of the input that was read (0 to 1) and the rows written; the
/// conversion stops when it returns false. Ctrl-C stops it too.
#[pyfunction]
#[pyo3(signature = (input, output, format=None, replace=false, progress=None))]
pub fn trace_convert(
    py: Python<'_>,
    input: &str,
    output: &str,
    format: Option<&str>,
    replace: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let conversion = Conversion { format, input: Path::new(input), output: Path::new(output), replace };
    let mut raised = None;
    let mut told = Instant::now();
    let outcome = py.detach(|| {
        conversion.run(&mut |state| {
            if told.elapsed() < BETWEEN_REPORTS {
                return ControlFlow::Continue(());
            }
            told = Instant::now();
            match tell(progress.as_ref(), state) {
                Ok(true) => ControlFlow::Continue(()),
                Ok(false) => ControlFlow::Break(()),
                Err(error) => {
                    raised = Some(error);
                    ControlFlow::Break(())
                }
            }
        })
    });
    match (raised, outcome) {
        (Some(error), _) => Err(error),
        (None, Err(ConvertError::Stopped)) => Err(Interrupted::new_err("the conversion was stopped")),
        (None, Err(error)) => Err(TraceError::new_err(error.to_string())),
        (None, Ok(summary)) => Ok(serde_json::to_string(&summary).expect("a summary can be written as JSON")),
    }
}

/// Asks Python whether to continue.
fn tell(progress: Option<&Py<PyAny>>, state: Progress) -> PyResult<bool> {
    Python::attach(|py| {
        py.check_signals()?;
        let Some(progress) = progress else { return Ok(true) };
        let share = state.read as f64 / state.bytes.max(1) as f64;
        progress.call1(py, (share, state.rows))?.is_truthy(py)
    })
}
