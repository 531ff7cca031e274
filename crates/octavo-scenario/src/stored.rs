//! What earlier versions called otherwise in the scenarios that they left in result folders.

use serde_json::{Map, Value};

use crate::WORKLOADS;

/// Gives what had another name its name of today.
pub(crate) fn bring_up_to_date(scenario: &mut Map<String, Value>) {
    let Some(workload) = scenario.get_mut("workload") else { return };
    rename(workload);
    let programs = workload.get_mut("applications").and_then(Value::as_array_mut);
    programs.into_iter().flatten().for_each(rename);
}

fn rename(program: &mut Value) {
    let Some(name) = program.get_mut("name") else { return };
    if let Some(former) = name.as_str().and_then(|name| WORKLOADS.former(name)) {
        *name = former.today.into();
    }
}
