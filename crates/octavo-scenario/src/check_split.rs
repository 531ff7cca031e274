//! Whether a network is split into as many parts as it has GPUs. Work-groups are divided evenly among GPUs, so other
//! parts would not be on a GPU each.

use serde_json::Value;

use crate::error::Problem;
use crate::workloads::WorkloadChoice;

/// Options of networks that split them.
const KEYS: [&str; 2] = ["replicas", "stages"];

/// `prefix`: the beginning of the workload's keys.
pub(crate) fn check_split(prefix: &str, workload: &WorkloadChoice, gpus: usize) -> Result<(), Problem> {
    let parts = KEYS.map(|key| (key, workload.options.get(key).and_then(Value::as_u64).unwrap_or(1)));
    match parts.into_iter().find(|&(_, count)| count > 1 && count != gpus as u64) {
        Some((key, count)) => {
            let expected = if gpus == 1 { "1".to_owned() } else { format!("1 or {gpus}") };
            let message = format!("expected {expected}, the number of GPUs that it runs on; found {count}");
            Err(Problem::new(format!("{prefix}workload.{key}"), message))
        }
        None => Ok(()),
    }
}
