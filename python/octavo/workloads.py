"""What a workload is and what it computes, without a memory system."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import octavo._core as _core
from octavo.errors import ScenarioError

if TYPE_CHECKING:
    from octavo.scenarios.scenario import Scenario


def inspect_workload(source: Scenario) -> dict[str, Any]:
    """What a scenario's workload touches, reads, writes and shares between its GPUs.

    Raises:
        ScenarioError: the workload cannot be built.

    """
    try:
        characteristics: dict[str, Any] = json.loads(_core.inspect_workload(source.toml))
    except _core.SimulationError as error:
        raise ScenarioError(error.args[0]) from None
    return characteristics


def quantum_volume(qubits: int, *, depth: int | None = None, seed: int = 0) -> dict[str, Any]:
    """The circuit that the workload `quantum-volume` simulates, and the amplitudes that it leads to.

    Args:
        qubits: 2 to 20.
        depth: Layers, 1 to 1000; as many as qubits if left out.
        seed: As a scenario's: from 0, below 2^63.

    Returns:
        `gates` (`layer`, `qubits`, `matrix`), in order, and `amplitudes` after them, by state: bit q of an index is
        qubit q. The first qubit of a gate is the lower bit of a row or column of its matrix. Complex numbers are pairs.

    Raises:
        ScenarioError: a number out of range.

    """
    layers = qubits if depth is None else depth
    for name, found, least, most in (("qubits", qubits, 2, 20), ("depth", layers, 1, 1000)):
        if not least <= found <= most:
            raise ScenarioError(f"{name}: expected {least} to {most}, found {found}")
    if not 0 <= seed < 1 << 63:
        raise ScenarioError(f"seed: expected a whole number from 0 and below 2^63, found {seed}")
    try:
        circuit: dict[str, Any] = json.loads(_core.quantum_volume(qubits, layers, seed))
    except _core.ScenarioError as error:
        raise ScenarioError(*error.args) from None
    return circuit


def workload_result(source: Scenario) -> dict[str, Any]:
    """What a scenario's workload computes.

    Programs on graphs find ranks, levels, distances, components, communities or the lightest forest. `kmeans`,
    `background`, `alignment`, `bst` and `evolution` compute what their names say.

    Returns:
        `result`, the name of a list of numbers, and that list. It has `None` where there is no number, as for vertices
        that no path leads to. Also what it was computed from, under the names of the program's buffers. Programs on
        graphs have one number for each vertex. Their graph is there as rows: `offsets`, `neighbours`, and `weights`
        where there are some. Rows hold where edges lead for `bfs-balanced`, where they come from for `pagerank` and
        `sssp`, and both for the others.

    Raises:
        ScenarioError: the workload cannot be built, or computes nothing of this kind.

    """
    try:
        found: dict[str, Any] = json.loads(_core.workload_result(source.toml))
    except _core.SimulationError as error:
        raise ScenarioError(error.args[0]) from None
    except _core.ScenarioError as error:
        raise ScenarioError(*error.args) from None
    return found


def workload_program(
    source: Scenario, kind: str = "managed", *, spread: str = "interleaved", threads: int = 1
) -> dict[str, Any]:
    """A scenario's workload as a whole program: its buffers and, in order, what host and GPUs do with them.

    Args:
        source: The scenario.
        kind: `explicit` (GPU memory and copies), `managed`, `system` or `pinned`; `recorded` of a trace that holds a
            whole program.
        spread: How explicit buffers lie on several GPUs: `interleaved` page by page, or `split` in equal parts.
        threads: Threads of the host that write inputs and read outputs.

    Returns:
        `buffers` (name, bytes, kind) and `actions`: what is done, with which buffers, how many bytes, and the numbers
        of the actions that it waits for.

    Raises:
        ScenarioError: the workload cannot be built, or there is no such kind or spread.

    """
    if threads < 1:
        raise ScenarioError(f"threads: expected at least 1, found {threads}")
    try:
        program: dict[str, Any] = json.loads(_core.workload_program(source.toml, kind, spread, threads))
    except _core.ScenarioError as error:
        raise ScenarioError(*error.args) from None
    except _core.SimulationError as error:
        raise ScenarioError(error.args[0]) from None
    return program
