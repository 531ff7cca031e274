//! Every workload that a scenario can name: the kernels, recorded steps and recorded traces; and how it names one.

use std::path::{MAIN_SEPARATOR, Path};
use std::sync::LazyLock;

use octavo_program::{Size, Workload};
use octavo_registry::{Choice, DIGEST, Options, Registry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The name of a workload of several programs, until each has become a job.
pub(crate) const MIX: &str = "mix";

/// All workloads, recorded steps and traces last.
pub static WORKLOADS: LazyLock<Registry<Box<dyn Workload>, Size>> = LazyLock::new(|| {
    let kernels = octavo_workload::WORKLOADS.entries.iter().copied();
    let entries: Vec<_> = kernels.chain([&octavo_workload::networks::entries::STEP, &octavo_trace::ENTRY]).collect();
    Registry::new(octavo_workload::WORKLOADS.kind, entries.leak())
});

/// A workload by name, its size and its options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadChoice {
    /// The registered name.
    pub name: String,
    /// Footprint relative to the published one: above 0, at most 1024.
    pub scale: f64,
    /// Seed of the workload's data; the scenario's seed if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub seed: Option<i64>,
    /// Options of this workload.
    #[serde(flatten)]
    pub options: Options,
}

impl WorkloadChoice {
    /// The name and options alone, as the registry of workloads takes them.
    #[must_use]
    pub fn choice(&self) -> Choice {
        Choice { name: self.name.clone(), options: self.options.clone() }
    }

    /// Its input in addition to its options, in a scenario with that seed.
    #[must_use]
    pub fn size(&self, seed: i64) -> Size {
        Size { scale: self.scale, seed: self.seed.unwrap_or(seed).unsigned_abs() }
    }
}

/// Lets the folder of a trace, the file of a recorded step, or the names of several programs (`hs+gups`) stand where
/// the name of a workload is expected. A trace is a folder, so a file of any name is a step. A Python file stays a name;
/// it is read as it is now, unless the digest of what it was stands beside it.
pub(crate) fn spell_out_name(workload: &mut Map<String, Value>) {
    let Some(Value::String(name)) = workload.get("name") else { return };
    if is_source(name) {
        workload.entry(DIGEST).or_insert(Value::Null);
    } else if let Some(entry) = recorded(name) {
        let path = std::mem::replace(&mut workload["name"], entry.into());
        workload.insert("path".to_owned(), path);
        // Whatever was there before.
        workload.insert("digest".to_owned(), Value::Null);
    } else if name.contains('+') {
        let programs: Vec<Value> = name.split('+').map(|name| name.trim().into()).collect();
        workload.insert("name".to_owned(), MIX.into());
        workload.insert("applications".to_owned(), programs.into());
        workload.shift_remove(DIGEST); // Of what looked like a single file.
    }
}

/// The workload that plays the file or folder at a path: anything that looks like a path, or that is the name of
/// nothing else.
fn recorded(name: &str) -> Option<&'static str> {
    let (step, trace) = (octavo_workload::networks::entries::STEP.name, octavo_trace::ENTRY.name);
    let path = Path::new(name);
    let is_free = || name != MIX && WORKLOADS.find(name).is_err();
    if name.ends_with(".step") || path.is_file() && (is_path(name) || is_free()) {
        Some(step)
    } else {
        (is_path(name) || octavo_trace::is_trace(path) && is_free()).then_some(trace)
    }
}

/// Whether a name is that of a Python file, or of a class in one, and not of several programs.
fn is_source(name: &str) -> bool {
    (name.ends_with(".py") || name.contains(".py:")) && (!name.contains('+') || Path::new(name).is_file())
}

fn is_path(name: &str) -> bool {
    name.contains(['/', MAIN_SEPARATOR]) || name.trim_end_matches('/').ends_with(".trace")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn spelled_out(workload: Value) -> Value {
        let Value::Object(mut workload) = workload else { panic!("a table") };
        spell_out_name(&mut workload);
        workload.into()
    }

    #[test]
    fn a_python_file_stays_a_name_and_is_read_anew_unless_its_digest_is_there() {
        for name in ["mine.py", "folder/mine.py", "mine.py:Own"] {
            assert_eq!(spelled_out(json!({ "name": name })), json!({ "name": name, "digest": null }));
            let resolved = json!({ "name": name, "digest": "00ff", "scale": 0.5 });
            assert_eq!(spelled_out(resolved.clone()), resolved);
        }
    }

    #[test]
    fn a_python_file_may_be_one_of_several_programs() {
        let expected = json!({ "name": MIX, "applications": ["fir", "mine.py"] });
        assert_eq!(spelled_out(json!({ "name": "fir+mine.py" })), expected);
        assert_eq!(spelled_out(json!({ "name": "fir+mine.py", "digest": null })), expected);
    }
}
