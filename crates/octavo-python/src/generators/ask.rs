//! Questions to the package about a user's workload.

use octavo_program::Size;
use octavo_registry::Choice;
use pyo3::intern;
use pyo3::prelude::*;

/// What a function of the package answers about a workload of that size.
pub fn ask(function: &str, choice: &Choice, size: &Size) -> PyResult<String> {
    let options = serde_json::to_string(&choice.options).expect("options can be written as JSON");
    Python::attach(|py| {
        let package = py.import(intern!(py, "octavo.trace.user_workloads"))?;
        package.call_method1(function, (&choice.name, options, size.scale, size.seed))?.extract()
    })
}
