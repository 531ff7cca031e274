//! Every workload that a scenario can name: the kernels, recorded steps and recorded traces.

use std::sync::LazyLock;

use octavo_program::{Size, Workload};
use octavo_registry::Registry;
use serde_json::{Map, Value};

/// The name of a workload of several programs, until each has become a job.
pub(crate) const MIX: &str = "mix";

/// All workloads, recorded steps and traces last.
pub static WORKLOADS: LazyLock<Registry<Box<dyn Workload>, Size>> = LazyLock::new(|| {
    let kernels = octavo_workload::WORKLOADS.entries.iter().copied();
    let entries: Vec<_> = kernels.chain([&octavo_workload::networks::entries::STEP, &octavo_trace::ENTRY]).collect();
    Registry::new(octavo_workload::WORKLOADS.kind, entries.leak()).with_former(octavo_workload::WORKLOADS.former)
});

/// Lets the folder of a trace, the file of a recorded step, or the names of several programs (`hs+gups`) stand where
/// the name of a workload is expected. A trace is a folder, so a file of any name is a step.
pub(crate) fn spell_out_name(workload: &mut Map<String, Value>) {
    let Some(Value::String(name)) = workload.get("name") else { return };
    let is_step = name.ends_with(".step") || is_path(name) && std::path::Path::new(name).is_file();
    if is_step || is_path(name) {
        let entry = if is_step { &octavo_workload::networks::entries::STEP } else { &octavo_trace::ENTRY };
        let path = std::mem::replace(&mut workload["name"], entry.name.into());
        workload.insert("path".to_owned(), path);
        // Whatever was there before.
        workload.insert("digest".to_owned(), Value::Null);
    } else if name.contains('+') {
        let programs: Vec<Value> = name.split('+').map(|name| name.trim().into()).collect();
        workload.insert("name".to_owned(), MIX.into());
        workload.insert("applications".to_owned(), programs.into());
    }
}

fn is_path(name: &str) -> bool {
    name.contains(['/', std::path::MAIN_SEPARATOR]) || name.trim_end_matches('/').ends_with(".trace")
}
