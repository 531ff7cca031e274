//! Quantum circuits, to apply elsewhere.

use octavo_workload::quantum::amplitudes::after;
use octavo_workload::quantum::circuit::Circuit;
use octavo_workload::quantum::unitary::Complex;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::errors::ScenarioError;

/// More would take minutes and gigabytes.
const MOST_QUBITS: u32 = 20;
const MOST_DEPTH: u32 = 1000;

/// The circuit of quantum volume that the workload `quantum-volume` simulates with a seed, and the amplitudes that it
/// leads to, as JSON; complex numbers are pairs.
#[pyfunction]
pub fn quantum_volume(py: Python<'_>, qubits: u32, depth: u32, seed: u64) -> PyResult<String> {
    for (key, found, least, most) in [("qubits", qubits, 2, MOST_QUBITS), ("depth", depth, 1, MOST_DEPTH)] {
        if !(least..=most).contains(&found) {
            let message = format!("{key}: expected {least} to {most}, found {found}");
            return Err(ScenarioError::new_err((message, None::<String>)));
        }
    }
    Ok(py.detach(|| described(&Circuit::quantum_volume(qubits, depth, seed)).to_string()))
}

fn described(circuit: &Circuit) -> Value {
    let layer = (circuit.qubits() / 2) as usize;
    let gate = |(index, qubits): (usize, &[u32; 2])| {
        let matrix = circuit.matrix(index).map(|row| row.map(pair));
        json!({ "layer": index / layer, "qubits": qubits, "matrix": matrix })
    };
    json!({
        "qubits": circuit.qubits(),
        "depth": circuit.depth(),
        "gates": circuit.pairs().iter().enumerate().map(gate).collect::<Vec<_>>(),
        "amplitudes": after(circuit).into_iter().map(pair).collect::<Vec<_>>(),
    })
}

fn pair(number: Complex) -> [f64; 2] {
    [number.re, number.im]
}
