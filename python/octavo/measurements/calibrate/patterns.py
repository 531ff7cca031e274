"""The probes' access patterns on a simulated node: the workload `touch` with the memory system of a probe.

Times are kernel times without launches, like those of a GPU's events.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from octavo import api
from octavo.measurements.calibrate import quantities

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from octavo.runs.result import RunResult
    from octavo.scenarios.scenario import Scenario

LARGE_PAGE = 2 << 20
"""The page size of the driver's own memory, and the span of one of its blocks."""
PAGE = 4 << 10
"""The unit of the counts of demand."""
LINE = 64
"""Bytes of a line of the simulated node."""
_QUIET: Mapping[str, object] = {"record.events": False, "record.interval": "0ns"}
RESIDENT: Mapping[str, object] = {"memory.placement": "interleaved", "memory.page_size": "2MiB"}
"""Memory that the program requested on the GPU: it is there from the start and never moves."""
PINNED: Mapping[str, object] = {
    "memory.placement": {"name": "access-counter", "threshold": 65535, "host_pages": "map"},
    "memory.page_size": "64KiB",
}
"""Host memory that the GPU maps and accesses line by line: it would take more accesses than any pattern here has to
move it."""
MANAGED: Mapping[str, object] = {"memory.preset": "stock-driver", "memory.guard": "none"}
"""Memory that moves on demand, as the production driver moves it."""
_ALONE: Mapping[str, object] = {"wavefronts": 1, "lanes": 1, "in_flight": 1}
"""One thread of each work-group, with one access in flight."""
_LOADS = 4
"""The loads at random places that a thread of the probe of pinned memory has in flight."""
_IN_FLIGHT_BYTES = 64
"""Bytes of the other loads that it has in flight."""
_STORES = 32
"""The stores that it has in flight: more make no difference."""
_ONE_FETCH = 1 / 171
"""The scale at which the result of `vectoradd` has 64 KiB, the size that a single fault fetches."""
_WALKED_WHOLE = 1 << 20
"""Places of a chase that are all visited before it is timed; with more places, the part that caches hold does not
matter."""


@dataclass(frozen=True)
class Node:
    """A node, and changes to it; only one of its GPUs is used."""

    name: str | Path
    """A preset, or a file."""
    changes: Mapping[str, object] = field(default_factory=dict)
    """Values by dotted key below `node`."""

    def scenario(self, touch: Mapping[str, object], memory: Mapping[str, object]) -> Scenario:
        """A scenario of `touch` with options.

        Raises:
            ScenarioError: an option or a value of the node cannot be used.

        """
        values = {f"node.{key}": value for key, value in self.changes.items()}
        options = {f"workload.{key}": value for key, value in touch.items()}
        return api.scenario(
            workload="touch", node=self.name, overrides={**values, "node.gpus": 1, **memory, **options, **_QUIET}
        )

    @cached_property
    def values(self) -> Mapping[str, Any]:
        """The node spelled out."""
        found: Mapping[str, Any] = self.scenario({}, RESIDENT).values["node"]
        return found

    @property
    def groups(self) -> int:
        """Work-groups of four wavefronts that fill every multiprocessor."""
        compute = self.values["compute"]
        return int(compute["units"] * compute["simds_per_unit"] * compute["wavefronts_per_simd"]) // 4

    @cached_property
    def launch(self) -> float:
        """Seconds of an empty launch; errors as `octavo.run`."""
        return Pattern.of(self, {"bytes": LINE, "touches": 0, "groups": 1, "wavefronts": 1}, RESIDENT, _whole).run()


@dataclass(frozen=True)
class Pattern:
    """Scenarios to run, and a function from their kernels' times to the result."""

    scenarios: Sequence[Scenario]
    value: Callable[[Sequence[Sequence[float]]], float]
    """The result, from the seconds of each launch of each scenario, including launch overhead."""

    @classmethod
    def of(
        cls,
        node: Node,
        touch: Mapping[str, object],
        memory: Mapping[str, object],
        value: Callable[[Sequence[float]], float],
    ) -> Pattern:
        """A single scenario."""
        return cls([node.scenario(touch, memory)], lambda seconds: value(seconds[0]))

    def run(self) -> float:
        """Simulate; errors as `octavo.run`."""
        return self.value([launches(api.run(scenario)) for scenario in self.scenarios])


def launches(result: RunResult) -> list[float]:
    """Seconds of each launch of a run."""
    kernels = result.table("kernels").select("began_ps", "ended_ps")
    return [1e-12 * (end - begin) for begin, end in kernels.iter_rows()]


def _whole(seconds: Sequence[float]) -> float:
    return seconds[0]


def stream(node: Node, size: int, operation: str = "copy") -> Pattern:
    """Bytes a second read and written over `size` bytes of each buffer, with caches as one pass leaves them."""
    touch = {"bytes": size, "width": 16, "operation": operation, "groups": node.groups, "launches": 2}
    moved = (2 if operation == "copy" else 1) * size
    return Pattern.of(node, touch, RESIDENT, lambda seconds: moved / (seconds[1] - node.launch))


def chase(node: Node, footprint: int, stride: int, loads: int = 20_000) -> Pattern:
    """Seconds of each of `loads` dependent loads after a walk that fills caches and TLBs.

    From strides of a page on, loads bypass the L1 cache, as the probe's do.
    """
    if stride >= PAGE:
        node = Node(node.name, {**node.changes, "l1.line": "64B", "l1.size": f"{LINE}B", "l1.ways": 1})
    places = footprint // stride
    warm = places if places <= _WALKED_WHOLE else max(loads, 8 * footprint // LARGE_PAGE)
    touch = {"bytes": footprint, "stride": stride, "width": 8, "order": "random", "groups": 1, **_ALONE}
    both = [node.scenario({**touch, "touches": touches}, RESIDENT) for touches in (warm, warm + loads)]
    return Pattern(both, lambda seconds: (seconds[1][0] - seconds[0][0]) / loads)


def random_lines(node: Node, footprint: int, touches: int) -> Pattern:
    """Bytes a second of lines read at random, by as many threads as the GPU holds."""
    touch = {"bytes": footprint, "stride": LINE, "width": 16, "order": "random", "groups": node.groups}
    options = {**touch, "touches": touches, "in_flight": 8}
    return Pattern.of(node, options, RESIDENT, lambda seconds: LINE * touches / (seconds[0] - node.launch))


def line_access(
    node: Node,
    touches: int,
    warps: int,
    *,
    width: int = 16,
    stride: int = 0,
    order: str = "ascending",
    write: bool = False,
) -> Pattern:
    """Useful bytes a second of accesses to pinned host memory.

    A thread of the probe has four loads in flight at random places. In order, the driver's compiler places more loads
    side by side: 64 bytes, so that a lone warp reads as fast with 4 bytes a thread as with 16. No thread waits for a
    store. `stride` is the distance between accesses: `width` if 0.
    """
    places = 1 << max(touches - 1, 1).bit_length()
    memory = {"bytes": places * (stride or width), "stride": stride or width, "width": width, "order": order}
    # Two warps are one wavefront of 64; a lone warp is half of one.
    shape = {"groups": math.ceil(warps / 2), "wavefronts": 1, "lanes": 64 if warps > 1 else 32}
    loads = _LOADS if order == "random" else _IN_FLIGHT_BYTES // width
    flight = {"operation": "write", "in_flight": _STORES} if write else {"in_flight": loads}
    options = {**memory, **shape, **flight, "touches": touches, "launches": 2}
    return Pattern.of(node, options, PINNED, lambda seconds: width * touches / (seconds[1] - node.launch))


def demand(node: Node, size: int, stride: int, blocks: int, order: str = "ascending") -> Pattern:
    """Seconds until one thread in each of `blocks` blocks has touched its part of a fresh range, page by page."""
    touch = {"bytes": size, "stride": stride, "width": 8, "order": order, "groups": blocks, **_ALONE}
    return Pattern.of(node, touch, MANAGED, lambda seconds: seconds[0] - node.launch)


def lone_host_fault(node: Node) -> float:
    """Seconds of a core's fault on 64 KiB that a GPU wrote, apart from reading them; errors as `octavo.run`.

    It is how much longer the host takes to read a program's result from managed memory than from pinned memory.
    """
    managed, pinned = (
        api.run(
            workload="vectoradd",
            scale=_ONE_FETCH,
            node=node.name,
            overrides={
                **{f"node.{key}": value for key, value in node.changes.items()},
                **MANAGED,
                **_QUIET,
                "node.gpus": 1,
                "program.kind": kind,
            },
        ).summary["phases"]["host_results_ps"]
        for kind in ("managed", "pinned")
    )
    return 1e-12 * float(managed - pinned)


def roofline(node: Node, touched: int, sigma: float, alpha: float, rho: int = 0) -> Pattern:
    """Operations a second of the roofline's kernel on `touched` bytes, in runs of a block of the driver.

    With a re-migration of `rho` the bytes come from the host that many times, as different bytes each time: the
    simulated node has no processor that takes them back. With 0 they are on the device, and the bulk copy of everything
    counts: the time that the link needs for it, since bulk copies are not simulated.
    """
    run = min(LARGE_PAGE, touched)
    shape = {"bytes": touched, "run": run, "spacing": round(run / sigma), "width": 4, "groups": node.groups}
    times = max(rho, 1)
    options = {**shape, "intensity": alpha / times, "launches": times, "fresh": times > 1}
    copied = 0.0 if rho else touched / sigma / _link(node)
    operations = alpha * touched

    def rate(seconds: Sequence[float]) -> float:
        return operations / (sum(seconds) - times * node.launch + copied)

    return Pattern.of(node, options, MANAGED if rho else RESIDENT, rate)


def _link(node: Node) -> float:
    """Bytes a second of the host link."""
    return quantities.number(str(node.values["host_link"]["bandwidth"]), "B/s")
