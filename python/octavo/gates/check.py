"""What a node promises, compared with what small programs reach on it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from octavo.gates import probes
from octavo.gates.as_published import KNOWN
from octavo.gates.expectations import Promised
from octavo.gates.probes import Machine
from octavo.measurements.calibrate.patterns import LARGE_PAGE
from octavo.measurements.calibrate.quantities import number
from octavo.scenarios.driver import driver

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from octavo.gates.as_published import Known
    from octavo.measurements.calibrate.measurement import Unit

RATE = (0.85, 1.005)
"""The least share of a promised rate that a wide program has to reach: its start and end, and the rounding of times to
whole picoseconds, take some of it."""
LATENCY = (0.95, 1.05)
"""How far a chase may be from the sum of the latencies on its way."""
WALKS = (0.0, 1.25)
"""Walks for each page of a machine's device memory; several compute units may miss a page at the same time."""


@dataclass(frozen=True)
class Gate:
    """One quantity of a node: what its values promise, and what a program reached."""

    quantity: str
    key: str
    """The keys of the node that promise it."""
    unit: Unit
    expected: float
    simulated: float
    within: tuple[float, float]
    """The lowest and the highest ratio of simulated to expected that passes."""
    reason: str | None = None
    """Why a node of a publication does not reach it."""

    @property
    def ratio(self) -> float:
        """Simulated over expected."""
        return self.simulated / self.expected

    @property
    def passed(self) -> bool:
        """Whether the ratio is within its limits."""
        return self.within[0] <= self.ratio <= self.within[1]


@dataclass(frozen=True)
class NodeCheck:
    """All gates of a node."""

    node: str
    driver: str
    """The release of the driver, and what it changes."""
    gates: tuple[Gate, ...]

    @property
    def passed(self) -> bool:
        """Whether every gate passed, or does not for a published reason."""
        return all(gate.passed or gate.reason for gate in self.gates)

    def __getitem__(self, quantity: str) -> Gate:
        return next(gate for gate in self.gates if gate.quantity == quantity)

    def to_dict(self) -> dict[str, Any]:
        """The check in a form for JSON."""
        rows = [
            {
                "quantity": gate.quantity,
                "key": gate.key,
                "unit": gate.unit,
                "expected": gate.expected,
                "simulated": gate.simulated,
                "ratio": gate.ratio,
                "least": gate.within[0],
                "most": gate.within[1],
                "passed": gate.passed,
                "reason": gate.reason,
            }
            for gate in self.gates
        ]
        return {"node": self.node, "driver": self.driver, "passed": self.passed, "gates": rows}


def check(node: str | Path, overrides: Sequence[str] = ()) -> NodeCheck:
    """Run a node's gates: some seconds of simulation.

    Args:
        node: a preset, or a file with a node.
        overrides: changes to it, such as `node.dram.banks=79`.

    Raises:
        ScenarioError: the node cannot be used.
        SimulationError: a probe cannot be simulated on it.

    """
    machine = Machine(node, overrides)
    known = {} if overrides else KNOWN.get(str(node), {})
    gates = tuple(_explained(gate, known) for gate in _gates(machine))
    return NodeCheck(str(node), driver(machine.values), gates)


def _explained(gate: Gate, known: Mapping[str, Known]) -> Gate:
    """The gate, with the reason if it is known to fail by this much."""
    one = known.get(gate.quantity)
    return replace(gate, reason=one.reason) if one and not gate.passed and one.explains(gate.ratio) else gate


def _gates(machine: Machine) -> Iterator[Gate]:
    node = machine.values["node"]
    promised = Promised(node)
    yield from _device(machine, promised)
    yield from _latencies(machine, promised)
    yield from _host(machine, promised)
    if node["gpus"] > 1:
        yield from _peers(machine, promised)


def _device(machine: Machine, promised: Promised) -> Iterator[Gate]:
    streamed = probes.stream(machine)
    yield Gate("memory stream", "dram", "B/s", promised.memory, streamed.bandwidth, RATE)
    pages = streamed.bytes / _mapped_by(machine)
    yield Gate("walks of the stream", "memory.sizing", "1", pages, streamed.walks, WALKS)
    yield Gate("arithmetic", "compute.vector_alu", "op/s", promised.arithmetic, probes.arithmetic(machine), RATE)


def _mapped_by(machine: Machine) -> int:
    """Bytes of device memory that one entry of a GPU's page table maps."""
    memory = machine.values["memory"]
    if memory.get("sizing", {"name": "base"})["name"] == "whole-blocks":
        return LARGE_PAGE
    return int(number(str(memory["page_size"]), "B"))


def _latencies(machine: Machine, promised: Promised) -> Iterator[Gate]:
    size = number(str(promised.values["l2"]["size"]), "B")
    first, second, memory = probes.chases(machine, size)
    yield Gate("first-level load", "l1.latency", "s", promised.first_level, first, LATENCY)
    yield Gate("second-level load", "l2.latency, l2.crossbar", "s", promised.second_level, second, LATENCY)
    yield Gate("memory load", "dram.latency", "s", promised.beyond_caches, memory, LATENCY)


def _host(machine: Machine, promised: Promised) -> Iterator[Gate]:
    to_gpu, to_host = probes.copies(machine, pinned=True)
    yield Gate("copy to GPU", "host_link.bandwidth", "B/s", promised.to_gpu, to_gpu, RATE)
    back = "host_link.to_host" if "to_host" in promised.values["host_link"] else "host_link.bandwidth"
    yield Gate("copy to host", back, "B/s", promised.to_host, to_host, RATE)
    if promised.rate("host.costs.staging.to_gpu") and promised.rate("host.costs.staging.to_host"):
        yield from _staged(machine, promised)
    lines = probes.lines_of_host(machine)
    yield Gate("lines of the host", "host_link, remote.header", "B/s", promised.lines_of_host, lines, RATE)


def _staged(machine: Machine, promised: Promised) -> Iterator[Gate]:
    to_gpu, to_host = probes.copies(machine, pinned=False)
    key = "host.costs.staging"
    into, back = (promised.rate(f"{key}.{way}") for way in ("to_gpu", "to_host"))
    yield Gate("staged copy to GPU", f"{key}.to_gpu", "B/s", min(into, promised.to_gpu), to_gpu, RATE)
    yield Gate("staged copy to host", f"{key}.to_host", "B/s", min(back, promised.to_host), to_host, RATE)


def _peers(machine: Machine, promised: Promised) -> Iterator[Gate]:
    reached, walks = probes.lines_of_peer(machine)
    yield Gate("lines of a peer", "gpu_link, remote.header", "B/s", promised.lines_of_peer, reached, RATE)
    pages = 2 * probes.ACROSS / _mapped_by(machine)
    yield Gate("walks to peers", "memory.sizing", "1", pages, walks, WALKS)
