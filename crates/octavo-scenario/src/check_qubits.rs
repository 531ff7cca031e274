//! Whether the state of a quantum circuit fits any memory of the node. The state doubles with each qubit, so the error
//! names the number of qubits that fits.

use octavo_node::NodeConfig;
use octavo_units::Bytes;

use crate::error::Problem;
use crate::program::RunKind;
use crate::workloads::WorkloadChoice;

/// The workload whose buffers are 2^n amplitudes.
const NAME: &str = "quantum-volume";
/// Its qubits at scale 1.
const USUAL: f64 = 30.0;

/// `prefix`: the beginning of the workload's keys. Nodes whose memory has no limit, or depends on the workload, fit
/// all.
pub(crate) fn check_qubits(
    prefix: &str,
    workload: &WorkloadChoice,
    kind: RunKind,
    node: &NodeConfig,
) -> Result<(), Problem> {
    let Some((room, place)) = room(node, kind).filter(|_| workload.name == NAME) else { return Ok(()) };
    let given = workload.options.get("qubits").and_then(serde_json::Value::as_u64);
    let (key, qubits) = match given {
        Some(qubits) => ("qubits", qubits),
        None => ("scale", (USUAL + workload.scale.log2()).round().max(0.0) as u64),
    };
    let double = workload.options.get("precision").is_some_and(|precision| precision == "double");
    let each = if double { 16 } else { 8 };
    let most = (room / each).checked_ilog2().unwrap_or(0);
    if qubits <= u64::from(most) {
        return Ok(());
    }
    let message = format!(
        "expected at most {most} qubits, whose state takes {} ({each} bytes for each of 2^{most} amplitudes) and fits \
         {place} of {}; found {qubits}",
        size(each << most),
        size(room)
    );
    Err(Problem::new(format!("{prefix}workload.{key}"), message))
}

/// Bytes as a reader would write them: 32GiB, 576GB.
fn size(bytes: u64) -> String {
    if bytes.is_multiple_of(1 << 30) { Bytes(bytes).to_string() } else { format!("{}GB", bytes as f64 / 1e9) }
}

/// The most bytes that buffers of a kind can have on the node, and their owner; none if there is no limit.
fn room(node: &NodeConfig, kind: RunKind) -> Option<(u64, &'static str)> {
    let first = node.host.memory.capacity.0;
    let host = node.host.memories.iter().fold(first, |sum, memory| sum.saturating_add(memory.capacity.0));
    let gpus = node.capacity.bytes.0.saturating_mul(u64::from(node.gpus));
    if first == 0 || gpus == 0 {
        return None;
    }
    Some(match kind {
        RunKind::Pinned => (host, "the host's memory"),
        // Staged on the host where it does not fit the GPUs.
        RunKind::Explicit if host >= gpus => (host, "the host's memory"),
        RunKind::Explicit => (gpus, "the GPUs' memory"),
        RunKind::Launches | RunKind::Managed | RunKind::System | RunKind::Recorded => {
            (host.saturating_add(gpus), "the memory of host and GPUs")
        }
    })
}
