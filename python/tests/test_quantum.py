"""The circuits of `quantum-volume`, applied by NumPy: other code, the same amplitudes."""

from __future__ import annotations

import json

import numpy as np
import pytest
from conftest import refused

from octavo import api
from octavo.errors import ScenarioError


def complex_of(pairs):
    """Numbers from pairs of real and imaginary parts."""
    parts = np.array(pairs)
    return parts[..., 0] + 1j * parts[..., 1]


def applied(circuit):
    """Amplitudes, by a tensor with an axis for each qubit, the highest first."""
    qubits = circuit["qubits"]
    state = np.zeros((2,) * qubits, dtype=complex)
    state[(0,) * qubits] = 1
    for gate in circuit["gates"]:
        first, second = (qubits - 1 - qubit for qubit in gate["qubits"])
        # Rows and columns as (second, first): the first is the lower bit.
        matrix = complex_of(gate["matrix"]).reshape(2, 2, 2, 2)
        state = np.moveaxis(np.tensordot(matrix, state, axes=((2, 3), (second, first))), (0, 1), (second, first))
    return state.reshape(-1)


@pytest.mark.parametrize("qubits", [4, 5, 6, 7, 8])
def test_amplitudes_are_those_of_numpy(qubits):
    circuit = api.quantum_volume(qubits, seed=qubits)
    found, expected = complex_of(circuit["amplitudes"]), applied(circuit)
    assert np.allclose(found, expected, atol=1e-12)
    assert np.linalg.norm(found) == pytest.approx(1, abs=1e-12)
    # Spread as a random state's are: its heavy outputs have (1 + ln 2) / 2 of the probability, on average.
    probabilities = np.abs(found) ** 2
    assert probabilities[probabilities > np.median(probabilities)].sum() == pytest.approx(0.85, abs=0.12)


def test_matrices_are_special_and_unitary():
    for gate in api.quantum_volume(6, depth=3, seed=1)["gates"]:
        matrix = complex_of(gate["matrix"])
        assert np.allclose(matrix @ matrix.conj().T, np.eye(4), atol=1e-12)
        assert np.linalg.det(matrix) == pytest.approx(1, abs=1e-12)


def test_depth_and_seed_decide():
    shallow = api.quantum_volume(6, depth=2)
    assert [gate["layer"] for gate in shallow["gates"]] == [0, 0, 0, 1, 1, 1]
    assert shallow["gates"] == api.quantum_volume(6)["gates"][:6]
    assert shallow["gates"] != api.quantum_volume(6, depth=2, seed=1)["gates"]


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        ((1, 1, 0), "qubits"),
        ((-1, 1, 0), "qubits"),
        ((21, 1, 0), "qubits"),
        ((1 << 64, 1, 0), "qubits"),
        ((4, 0, 0), "depth"),
        ((4, -1, 0), "depth"),
        ((4, 4, -1), "seed"),
        ((4, 4, 1 << 64), "seed"),
    ],
)
def test_nonsense_is_refused(arguments, key):
    qubits, depth, seed = arguments
    with refused("unexpected-value", ScenarioError, key=key):
        api.quantum_volume(qubits, depth=depth, seed=seed)


def test_the_command_prints_the_circuit(cli):
    shown = json.loads(cli("workload", "circuit", "--qubits", "4", "--json").stdout)
    assert shown == api.quantum_volume(4)
    assert "layer" in cli("workload", "circuit", "--qubits", "5").stdout
