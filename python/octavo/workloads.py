"""What a workload is and what it computes, without a memory system."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import octavo._core as _core
from octavo import checks
from octavo.arguments import named
from octavo.errors import ScenarioError, of_engine
from octavo.files.notes import notes_told
from octavo.scenarios.nodes import SUFFIX
from octavo.scenarios.scenario import Recipe, Scenario, trace_name

Buffers: TypeAlias = Literal["explicit", "managed", "system", "pinned", "recorded"]
Spread: TypeAlias = Literal["interleaved", "split"]


def _toml(source: Scenario | str | Path) -> str:
    """The scenario, or that of a file, or of a workload that is named alone.

    Raises:
        ScenarioError: there is no such file or workload, or the source is none of these.

    """
    if isinstance(source, Scenario):
        return source.toml
    found = checks.text("source", source, "a scenario, a scenario file or the name of a workload")
    if str(found).endswith(SUFFIX):
        return Recipe.from_file(found).resolve().toml
    return Recipe.from_names(trace_name(found) if isinstance(found, Path) else found).resolve().toml


@named
def inspect_workload(source: Scenario | str | Path) -> dict[str, Any]:
    """Count what a workload touches, reads, writes and shares between its GPUs.

    Args:
        source: a scenario, a scenario file, the name of a workload, or the folder of a trace. A name alone stands for
            the published size on the default node; `octavo.scenario` changes both.

    Raises:
        ScenarioError: the workload cannot be built.

    """
    try:
        with notes_told():
            characteristics: dict[str, Any] = json.loads(_core.inspect_workload(_toml(source)))
    except _core.SimulationError as error:
        raise of_engine(error, ScenarioError) from None
    return characteristics


@named
def quantum_volume(qubits: int, *, depth: int | None = None, seed: int = 0) -> dict[str, Any]:
    """Compute the circuit that the workload `quantum-volume` simulates, and its final amplitudes.

    Args:
        qubits: 2 to 20.
        depth: Layers, 1 to 1000; as many as qubits if left out.
        seed: as a scenario's, a whole number from 0 to 2^63 - 1.

    Returns:
        `gates` (`layer`, `qubits`, `matrix`), in order, and `amplitudes` after them, by state: bit q of an index is
        qubit q. The first qubit of a gate is the lower bit of a row or column of its matrix. Complex numbers are pairs.

    Raises:
        ScenarioError: a number out of range.

    """
    layers = qubits if depth is None else depth
    for name, found, least, most in (("qubits", qubits, 2, 20), ("depth", layers, 1, 1000)):
        checks.whole(name, found, least=least, most=most)
    checks.whole("seed", seed, least=0, most=(1 << 63) - 1)
    try:
        circuit: dict[str, Any] = json.loads(_core.quantum_volume(qubits, layers, seed))
    except _core.ScenarioError as error:
        raise of_engine(error, ScenarioError) from None
    return circuit


@named
def workload_result(source: Scenario | str | Path) -> dict[str, Any]:
    """Compute the result of a workload.

    Programs on graphs find ranks, levels, distances, components, communities or the lightest forest. `kmeans`,
    `background`, `alignment`, `bst` and `evolution` compute what their names say.

    Args:
        source: as for `inspect_workload`.

    Returns:
        `result`, the name of a list of numbers, and that list, which has `None` where there is no number, as for
        unreachable vertices. The inputs are returned, too, under the names of the program's buffers. Programs on graphs
        have one number for each vertex, and return their graph as rows: `offsets`, `neighbours`, and `weights` if there
        are any. Rows contain outgoing edges for `bfs-balanced`, incoming edges for `pagerank` and `sssp`, and both for
        the others.

    Raises:
        ScenarioError: the workload cannot be built, or computes nothing of this kind.

    """
    try:
        with notes_told():
            found: dict[str, Any] = json.loads(_core.workload_result(_toml(source)))
    except _core.SimulationError as error:
        raise of_engine(error, ScenarioError) from None
    except _core.ScenarioError as error:
        raise of_engine(error, ScenarioError) from None
    return found


@named
def workload_program(
    source: Scenario | str | Path,
    kind: Buffers = "managed",
    *,
    spread: Spread = "interleaved",
    threads: int = 1,
) -> dict[str, Any]:
    """List a workload's whole program: its buffers and, in order, what host and GPUs do with them.

    Args:
        source: as for `inspect_workload`.
        kind: `explicit` (GPU memory and copies), `managed`, `system` or `pinned`; `recorded` for a trace of a
            whole program.
        spread: How explicit buffers lie on several GPUs: `interleaved` page by page, or `split` in equal parts.
        threads: Threads of the host that write inputs and read outputs.

    Returns:
        `buffers` (name, bytes, kind) and `actions`: the kind of each action, its buffers and bytes, and the numbers of
        the actions that it waits for.

    Raises:
        ScenarioError: the workload cannot be built, or there is no such kind or spread.

    """
    checks.choice("kind", kind, get_args(Buffers))
    checks.choice("spread", spread, get_args(Spread))
    checks.whole("threads", threads, least=1)
    try:
        with notes_told():
            program: dict[str, Any] = json.loads(_core.workload_program(_toml(source), kind, spread, threads))
    except _core.ScenarioError as error:
        raise of_engine(error, ScenarioError) from None
    except _core.SimulationError as error:
        raise of_engine(error, ScenarioError) from None
    return program
