"""System constants of the penalty: from a node, and from measurements if the node is a machine file."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from octavo import _core, api
from octavo.advice.model import AllocationCosts, System
from octavo.errors import AdviceError, ScenarioError, of_engine
from octavo.files import atomic
from octavo.files.replacement import check_free
from octavo.files.toml import read_toml
from octavo.measurements.calibrate import machine as machine_file
from octavo.measurements.calibrate import quantities
from octavo.quantities import base, count
from octavo.scenarios import nodes
from octavo.scenarios.about import About, about

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octavo.measurements.calibrate.measurement import Measured, Unit
    from octavo.scenarios.scenario import Scenario

DEFAULT_NODE = "cuda-sm90"
_LANES = 64
"""Lanes of a wavefront of the simulated node, which stands for two warps."""
_LINE = 64
"""Bytes of a line of the simulated node."""
_UNLIMITED = 1 << 62
"""Bytes of a device memory that nothing limits."""
_ANY_WORKLOAD = "vectoradd"
"""A scenario must name a workload; the node does not depend on which one."""
_MEASURED = {
    "peak": ("roofline_peak",),
    "device": ("roofline_bandwidth_device", "stream_bandwidth_triad"),
    "copy": ("copy_bandwidth_h2d_pageable", "copy_bandwidth_h2d_pinned"),
    "copy_back": ("copy_bandwidth_d2h_pageable", "copy_bandwidth_d2h_pinned"),
    "by_lines": ("zero_copy_bandwidth_read_sequential",),
    "latency": ("zero_copy_round_trip_read",),
    "launch": ("launch_stream",),
    "copy_call": ("copy_overhead_h2d_pinned",),
}
"""Constants that a machine file may contain, by the names of measured values; the first that exists is taken."""
_BACK = {"copy_back": "copy", "on_demand_back": "on_demand"}
"""Constants of the path to the host, and of the path to the device."""

Certainty = Literal["measured", "given", "derived"]


@dataclass(frozen=True)
class Origin:
    """Where a constant comes from, and how sure it is."""

    certainty: Certainty
    """`measured` on a machine; `given` by a node, whose file names its sources; `derived` from what is given."""
    where: str


@dataclass(frozen=True)
class SystemConstants:
    """The constants of a machine, each with its origin."""

    name: str
    system: System
    origins: Mapping[str, Origin]
    gpus: int
    about: About
    """How far results on the node can be trusted."""
    measured: Mapping[str, Measured] = field(default_factory=dict)
    """Measured values of its machine file, by name."""

    def value(self, name: str, otherwise: float) -> float:
        """A measured value, or another number where it was not measured."""
        found = self.measured.get(name)
        return otherwise if found is None else found.value


def from_node(node: str | Path = DEFAULT_NODE, *, page: str | None = None) -> SystemConstants:
    """The constants of a node.

    Args:
        node: a preset, or a file: a machine file, or one with a `[node]`.
        page: bytes of a page, such as `64KiB`; the scenario's default if left out.

    Raises:
        ScenarioError: there is no such node, or it cannot be used.
        CalibrationError: it is a machine file of another version, or damaged.

    """
    changes = None if page is None else {"memory.page_size": page}
    found = measured_of(node)
    scenario = api.scenario(workload=_ANY_WORKLOAD, node=node, overrides=changes)
    return from_scenario(scenario, name=str(node), measured=found)


def measured_of(node: str | Path) -> Mapping[str, Measured]:
    """Measured values of the machine file behind a node; empty for other nodes.

    Raises:
        CalibrationError: it is a machine file of another version, or damaged.

    """
    name = nodes.node_name(node)
    if not nodes.is_file(name):
        return {}
    try:
        values = read_toml(Path(name))
    except (OSError, ValueError, RecursionError):
        return {}  # Resolving the scenario says what is wrong.
    if not {"format", "machine", "measured"} & values.keys():
        return {}
    return machine_file.read(Path(name)).measured


def from_scenario(
    scenario: Scenario, *, name: str = "the scenario's node", measured: Mapping[str, Measured] | None = None
) -> SystemConstants:
    """The constants of a scenario's node, some of them replaced by measurements."""
    values = scenario.values
    node = values["node"]
    system = _System(node, values["memory"]["page_size"]).constants()
    origins = {key: Origin("derived" if key in _DERIVED else "given", where) for key, where in _WHERE.items()}
    for constant, names in _MEASURED.items():
        value = next((measured[each] for each in names if each in measured), None) if measured else None
        if value is not None:
            taken: dict[str, Any] = {constant: value.value}
            system = replace(system, **taken)
            origins[constant] = Origin("measured", f"{name}: measured.{value.name}")
    for constant, there in _BACK.items() if node["host_link"].get("to_host") is None else ():
        if origins[constant].certainty != "measured":  # One number for both ways, wherever it comes from.
            system = replace(system, **{constant: getattr(system, there)})
            origins[constant] = origins[there]
    return SystemConstants(name, system, origins, int(node["gpus"]), about(values), measured or {})


FORMAT = 5
"""Version of the file; `crates/octavo-runtime/src/machine.rs` reads it."""


def document(constants: SystemConstants) -> dict[str, Any]:
    """The contents of the file: `constants` is the format, `system` the constants as the model reads them."""
    return {
        "constants": FORMAT,
        "name": constants.name,
        "system": constants.system.to_model(),
        "origins": {name: vars(origin) for name, origin in constants.origins.items()},
    }


def write(node: str | Path, file: str | Path, *, force: bool = False) -> None:
    """Write the constants of a node, or of a machine file, for the runtime library.

    Args:
        node: a preset, or a file: a machine file, or one with a `[node]`.
        file: what to write.
        force: replace the file if it exists.

    Raises:
        OutputError: the file exists already, or cannot be written.
        OctavoError: there is no such node, or it cannot be used.

    Examples:
        >>> import tempfile
        >>> write("cuda-sm90", Path(tempfile.mkdtemp()) / "constants.json")

    """
    file = Path(file)
    check_free(file, force=force)
    atomic.write_bytes(file, text(from_node(node)).encode())


def text(constants: SystemConstants) -> str:
    """The file."""
    return json.dumps(document(constants), indent=2, ensure_ascii=False) + "\n"


def limited(constants: SystemConstants, scenario: Scenario) -> SystemConstants:
    """The constants with the device memory that a program has at its scale: `node.capacity`.

    Raises:
        ScenarioError: that is too little to run.

    """
    room = memory(scenario)
    if room is None:
        return constants
    origins = {**constants.origins, "capacity": Origin("derived", "node.capacity, the program's footprint and scale")}
    return replace(constants, system=replace(constants.system, capacity=room), origins=origins)


def spread(constants: SystemConstants, scenario: Scenario) -> SystemConstants:
    """All GPUs of a node as one, for a program that is spread over them: what each has of its own adds up."""
    if constants.gpus == 1:
        return constants
    node, system = scenario.values["node"], constants.system
    behind = int((node.get("host_switches") or {}).get("gpus", 1))
    links = max(constants.gpus // behind, 1) if node["host_link"]["sharing"] == "per-gpu" else 1
    copied = quantities.number(node["host"]["cpu"]["memory_bandwidth"], "B/s") / 2
    whole = replace(
        system,
        **{name: getattr(system, name) * constants.gpus for name in ("peak", "device", "multiprocessors", "capacity")},
        **{name: getattr(system, name) * links for name in ("on_demand", "on_demand_back", "by_lines")},
        **{name: min(getattr(system, name) * links, copied) for name in ("copy", "copy_back")},
    )
    return replace(constants, system=whole)


def memory(scenario: Scenario) -> int | None:
    """Bytes of a GPU's memory that a program has at its scale; none where there is no limit.

    Raises:
        ScenarioError: that is too little to run.

    """
    try:
        return _core.gpu_memory(scenario.toml)
    except _core.SimulationError as error:
        raise of_engine(error, ScenarioError, hint="more node.capacity, or --memory") from None


_WHERE = {
    "peak": "node.compute: units, simds_per_unit, 64 lanes every vector_alu.occupancy, clock",
    "device": "node.dram: banks, 64B every line_cycles, clock",
    "on_demand": "node.host_link.bandwidth",
    "copy": "node.host_link.bandwidth, at most half of node.host.cpu.memory_bandwidth, node.host.costs.staging",
    "copy_back": "node.host_link.to_host, at most half of node.host.cpu.memory_bandwidth, node.host.costs.staging",
    "on_demand_back": "node.host_link.to_host",
    "by_lines": "node.host_link.bandwidth, 64B beside node.remote.header; node.remote.lines_in_flight",
    "multiprocessors": "node.compute.units",
    "warp": "64 lanes of a wavefront",
    "warps": "node.compute: simds_per_unit, wavefronts_per_simd",
    "line": "64B",
    "latency": "node.host_link.latency both ways, node.host.memory_latency, node.l2, node.l1",
    "page": "memory.page_size",
    "capacity": "node.capacity.bytes",
    "fault_wait": "node.driver.service.interrupt",
    "fault_group": "node.driver.service, node.host_link.latency both ways",
    "fault_block": "node.driver.service.block",
    "fault": "node.driver.service, a page's steps: node.driver.unmap_page, node.host_link.latency both ways, "
    "node.copy_engines, node.host.memory_latency, node.dram.latency, node.driver.entry_write",
    "made": "node.driver.service, a page's steps: node.host_link.latency, node.dram.latency, node.driver.entry_write",
    "fault_stale": "node.driver.service",
    "prefetch": "node.copy_engines",
    "fault_unmap": "node.driver.unmap_page",
    "most_faults": "node.driver.service",
    "host_fault": "node.host.costs: minor_fault, driver_fault, unmap_page; node.host_link.latency both ways, "
    "node.copy_engines",
    "launch": "node.compute.kernel_overhead",
    "copy_call": "node.host.costs.copy_call",
    "prefetch_call": "node.host.costs.advice_call",
    "device_memory": "node.host.costs.device",
    "pinned_memory": "node.host.costs.pinned",
    "managed_memory": "node.host.costs.managed",
    "first_touch": "node.host.costs.minor_fault",
    "zeroing": "node.host.costs.zeroing",
    "unmap": "node.host.costs.unmap_page",
}
_DERIVED = {"peak", "device", "copy", "copy_back", "by_lines", "latency", "fault_group", "fault", "made", "host_fault"}


class _System:
    """A node's values, read as the model wants them."""

    def __init__(self, node: Mapping[str, Any], page: str) -> None:
        self.node = node
        self.page = round(quantities.number(page, "B"))
        self.clock = float(count(node["clock"], "Hz"))

    def constants(self) -> System:
        """All constants."""
        compute, costs = self.node["compute"], self.node["host"]["costs"]
        link = self.number(self.node["host_link"]["bandwidth"], "B/s")
        back = self.number(self.node["host_link"].get("to_host") or self.node["host_link"]["bandwidth"], "B/s")
        copied = self.number(self.node["host"]["cpu"]["memory_bandwidth"], "B/s") / 2
        service = _service(self)
        arithmetic = self.time(compute["vector_alu"]["occupancy"])
        if not arithmetic:
            raise AdviceError(
                "node.compute.vector_alu.occupancy: expected at least a cycle, found 0cycles", code="unexpected-value"
            )
        return System(
            peak=compute["units"] * compute["simds_per_unit"] * _LANES / arithmetic,
            device=self.node["dram"]["banks"] * _LINE / self.time(self.node["dram"]["line_cycles"]),
            on_demand=link,
            copy=min(link, copied, self.staged("to_gpu")),
            copy_back=min(back, copied, self.staged("to_host")),
            on_demand_back=back,
            by_lines=self.by_lines(link),
            multiprocessors=compute["units"],
            warp=_LANES,
            warps=compute["simds_per_unit"] * compute["wavefronts_per_simd"],
            line=_LINE,
            latency=self.latency(),
            page=self.page,
            capacity=self.capacity(),
            fault_wait=service["wait"],
            fault_group=service["group"] + 2 * self.hop(),
            fault_block=service["block"],
            fault=service["fault"] + self.moved(),
            made=service["fault"] + self.hop() + self.written(),
            fault_stale=service["fault"],
            prefetch=self.command(),
            fault_unmap=self.given_up(),
            most_faults=round(service["most"]),
            host_fault=self.time(costs["minor_fault"])
            + self.time(costs["driver_fault"])
            + self.time(costs["unmap_page"])
            + 2 * self.hop()
            + self.command("to_host"),
            launch=self.time(compute["kernel_overhead"]),
            copy_call=self.time(costs["copy_call"]),
            prefetch_call=self.time(costs["advice_call"]),
            device_memory=self.allocation(costs["device"]),
            pinned_memory=self.allocation(costs["pinned"]),
            managed_memory=self.allocation(costs["managed"]),
            first_touch=self.time(costs["minor_fault"]),
            zeroing=self.number(costs["zeroing"], "B/s"),
            unmap=self.time(costs["unmap_page"]),
        )

    def allocation(self, costs: Mapping[str, Mapping[str, str]]) -> AllocationCosts:
        """What both calls cost."""
        calls = [costs["allocate"], costs["free"]]
        call, each, below = (sum(self.time(one[key]) for one in calls) for key in ("call", "each", "below_chunk"))
        return AllocationCosts(call, each, below)

    def time(self, text: str) -> float:
        """Seconds of a time or of cycles."""
        found, unit = base(text)
        return found / self.clock if unit == "cycles" else quantities.number(text, "s")

    @staticmethod
    def number(text: str, unit: Unit) -> float:
        return quantities.number(text, unit)

    def staged(self, way: str) -> float:
        """Bytes a second at which the driver copies ordinary memory; no limit if it does not stage it."""
        rate = self.number(self.node["host"]["costs"]["staging"][way], "B/s")
        return rate or inf

    def hop(self) -> float:
        """The latency from a GPU to the host, or back."""
        return self.time(self.node["host_link"]["latency"])

    def written(self) -> float:
        """An entry and the first line of a page, in the GPU's memory."""
        return self.time(self.node["driver"]["entry_write"]) + self.time(self.node["dram"]["latency"])

    def moved(self) -> float:
        """A page from the host, besides its bytes: unmapped there, copied over the link, written and mapped."""
        read = self.command() + 2 * self.hop() + self.time(self.node["host"]["memory_latency"])
        return self.given_up() + read + self.written()

    def given_up(self) -> float:
        """The driver takes a page from the host's page table."""
        return self.time(self.node["driver"].get("unmap_page") or self.node["host"]["costs"]["unmap_page"])

    def command(self, way: str = "to_gpu") -> float:
        """Time of a copy of pages beyond its bytes and its way over the link."""
        engines = self.node.get("copy_engines")
        if not engines:
            return 0.0
        occupied = self.time(engines["occupied"][way]) if "occupied" in engines else 0.0
        return self.time(engines["setup"]) + max(0.0, occupied - self.hop())

    def latency(self) -> float:
        """The latency of a line in host memory: the caches on the way, the link in both directions, and the memory."""
        inside = self.time(self.node["l1"]["latency"]) + self.time(self.node["l2"]["latency"])
        crossbar = 2 * self.time(self.node["l2"]["crossbar"])
        return inside + crossbar + 2 * self.hop() + self.time(self.node["host"]["memory_latency"])

    def by_lines(self, link: float) -> float:
        """Useful bytes a second of lines over the link, with as many in flight as the GPU allows."""
        remote = self.node["remote"]
        lines = link * _LINE / (_LINE + quantities.number(remote["header"], "B"))
        flying = remote["lines_in_flight"]
        return min(lines, flying * _LINE / self.latency()) if flying else lines

    def capacity(self) -> int:
        """Memory of one GPU; a share of the footprint means nothing without a program."""
        capacity = self.node["capacity"].get("bytes")
        return (round(quantities.number(capacity, "B")) if capacity is not None else 0) or _UNLIMITED


def _service(system: _System) -> dict[str, float]:
    """Time of a group of faults, of each block and fault in it, and until it is taken; the most faults of a group."""
    service = system.node["driver"]["service"]
    optional = {name: system.time(service.get(name) or "0ns") for name in ("interrupt", "request", "block")}
    if service["model"] == "batch":
        times = {"group": system.time(service["batch"]), "block": optional["block"], "wait": optional["interrupt"]}
        return {**times, "fault": optional["request"], "most": service["size"]}
    if service["model"] == "pool":
        return {
            "group": system.time(service["service"]),
            "block": 0.0,
            "wait": 0.0,
            "fault": 0.0,
            "most": service["servers"],
        }
    raise AdviceError(
        f"node.driver.service.model: expected batch or pool, found {service['model']}",
        code="unexpected-value",
        found=service["model"],
    )
