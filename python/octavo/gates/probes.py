"""Small programs that should reach what a node promises, on the memory that its own driver gives them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo import api
from octavo.measurements.calibrate import patterns
from octavo.scenarios.scenario import overrides_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from octavo.runs.result import RunResult
    from octavo.scenarios.scenario import Scenario

_STREAMED = 64 << 20
"""Bytes of a stream: long compared with a launch at today's rates, and short enough for seconds of work."""
ACROSS = 32 << 20
"""Bytes that a program streams over links."""
_WAVEFRONTS = 4
_THREADS = 64 * _WAVEFRONTS
"""Threads of a work-group of `touch`."""
_WIDTH = 16
"""Bytes that a thread touches at once."""
_ROUNDS = 16
"""Touches of each thread, each with multiply-adds, for measuring arithmetic."""
_OPERATIONS = 128
"""Operations for each byte, as in a product of large matrices: memory never limits it."""
_LOADS = 2_000
"""Dependent loads of a chase."""
_FIRST, _SECOND = 16 << 10, 1 << 20
"""More bytes than caches of the first and the second level hold on any node."""
_APART, _PAST = 256, 4096
"""Bytes between places of a chase: on lines of their own, and so far apart that it misses the first level."""
_BEYOND = 8
"""A chase through this many second-level caches finds almost nothing in them."""
_COPIED = 2.0
"""The scale of `vectoradd` at which its vectors have 22 MB."""
_EXPLICIT: Mapping[str, object] = {"program.kind": "explicit"}
RESIDENT: Mapping[str, object] = {**patterns.RESIDENT, "node.host.page_sizes": []}
"""Memory that is in pages of 2 MiB from the start, whatever the host's kernel provides."""
_ALONE: Mapping[str, object] = {"groups": 1, "wavefronts": 1, "lanes": 1, "in_flight": 1}
"""One thread with one load in flight."""
_NO_FIRST_LEVEL: Mapping[str, object] = {"node.l1.line": "64B", "node.l1.size": "64B", "node.l1.ways": 1}
_QUIET: Mapping[str, object] = {"record.events": False, "record.interval": "0ns"}
_UNSTAGED: Mapping[str, object] = {
    "node.host.costs.staging.to_gpu": "0GB/s",
    "node.host.costs.staging.to_host": "0GB/s",
}
"""Time that the rate of pinned copies does not include."""


@dataclass(frozen=True)
class Machine:
    """A node under test."""

    name: str | Path
    """A preset, or a file."""
    changes: Sequence[str]
    """As `key=value`."""

    def scenario(self, overrides: Mapping[str, object], **named: Any) -> Scenario:
        """A scenario on it that records only totals."""
        recipe = api.recipe(node=self.name, overrides=list(self.changes), **named)
        return recipe.with_overrides(overrides_of({**overrides, **_QUIET})).resolve()

    def touch(self, options: Mapping[str, object], memory: Mapping[str, object], gpus: int = 1) -> RunResult:
        """Run `touch` with options on this many of its GPUs."""
        touch = {f"workload.{key}": value for key, value in options.items()}
        return api.run(self.scenario({**touch, **memory, "node.gpus": gpus}, workload="touch"))

    @cached_property
    def values(self) -> Mapping[str, Any]:
        """A fully resolved scenario on it."""
        return self.scenario({}, workload="touch").values

    @property
    def groups(self) -> int:
        """Work-groups of four wavefronts that fill every compute unit of a GPU."""
        compute = self.values["node"]["compute"]
        return int(compute["units"] * compute["simds_per_unit"] * compute["wavefronts_per_simd"]) // _WAVEFRONTS

    @cached_property
    def launch(self) -> float:
        """Seconds of an empty launch."""
        empty = {"bytes": patterns.LINE, "touches": 0, "groups": 1, "wavefronts": 1}
        return patterns.launches(self.touch(empty, RESIDENT))[0]


@dataclass(frozen=True)
class Streamed:
    """Bytes a second that a stream over device memory reached."""

    bandwidth: float
    """Bytes a second."""
    walks: int
    """Page-table walks."""
    bytes: int


def stream(machine: Machine) -> Streamed:
    """Each byte of two buffers is read once, by a launch each; the second finds no cache full of stores."""
    touch = {"bytes": _STREAMED, "width": _WIDTH, "groups": machine.groups, "launches": 2, "fresh": True}
    result = machine.touch(touch, _EXPLICIT)
    seconds = patterns.launches(result)[1] - machine.launch
    return Streamed(_STREAMED / seconds, result.summary["accesses"]["walks"], 2 * _STREAMED)


def arithmetic(machine: Machine) -> float:
    """Operations a second of multiply-adds on data that the GPU has loaded."""
    size = machine.groups * _THREADS * _WIDTH * _ROUNDS
    touch = {"bytes": size, "width": _WIDTH, "in_flight": 1, "groups": machine.groups, "intensity": _OPERATIONS}
    seconds = patterns.launches(machine.touch(touch, RESIDENT))[0] - machine.launch
    return _OPERATIONS * size / seconds


def chases(machine: Machine, second_level: float) -> tuple[float, float, float]:
    """Seconds of a load that the first level, the second level (of a given size) or memory serves."""
    beyond = 1 << int(_BEYOND * second_level - 1).bit_length()
    first = _chase(machine, _FIRST, patterns.LINE, _FIRST // patterns.LINE)
    second = _chase(machine, _SECOND, _PAST, _SECOND // _PAST, _NO_FIRST_LEVEL)
    return first, second, _chase(machine, beyond, _APART, max(_LOADS, 8 * beyond // patterns.LARGE_PAGE))


def _chase(
    machine: Machine, footprint: int, stride: int, warm: int, changes: Mapping[str, object] | None = None
) -> float:
    """Seconds of each of some dependent loads after `warm` others, which fill caches and TLBs."""
    touch = {"bytes": footprint, "stride": stride, "width": 8, "order": "random", **_ALONE}
    memory = {**RESIDENT, **(changes or {})}
    runs = [machine.touch({**touch, "touches": touches}, memory) for touches in (warm, warm + _LOADS)]
    before, after = (patterns.launches(run)[0] for run in runs)
    return (after - before) / _LOADS


def copies(machine: Machine, *, pinned: bool) -> tuple[float, float]:
    """Bytes a second of copies to the GPU and back, without the time of their calls."""
    overrides = {**(_UNSTAGED if pinned else {}), **_EXPLICIT, "node.gpus": 1, "node.host.costs.copy_call": "0ns"}
    result = api.run(machine.scenario(overrides, workload="vectoradd", scale=_COPIED))
    return _rate(result, "copy-in", "host->gpu0"), _rate(result, "copy-out", "gpu0->host")


def _rate(result: RunResult, phase: str, link: str) -> float:
    spent = result.table("phases").filter(pl.col("phase") == phase)
    moved = result.table("links").filter(pl.col("link") == link)
    return float(moved["copies"].sum()) / (1e-12 * float((spent["ended_ps"] - spent["began_ps"]).sum()))


def lines_of_host(machine: Machine) -> float:
    """Bytes a second that the GPU reads from pinned memory."""
    touch = {"bytes": ACROSS, "width": _WIDTH, "groups": machine.groups}
    result = machine.touch(touch, {"program.kind": "pinned"})
    return ACROSS / (patterns.launches(result)[0] - machine.launch)


def lines_of_peer(machine: Machine) -> tuple[float, int]:
    """Bytes a second that GPU 0 and GPU 1 read from each other's device memory, and page-table walks of both.

    The first launch reads memory of its own GPU, the second memory of the other one.
    """
    groups = ACROSS // (_THREADS * _WIDTH)
    touch = {"bytes": ACROSS, "width": _WIDTH, "in_flight": 1, "groups": groups, "launches": 2, "turn": groups // 2}
    result = machine.touch(touch, {**_EXPLICIT, "program.devices": "split"}, gpus=2)
    seconds = patterns.launches(result)[1] - machine.launch
    return ACROSS / 2 / seconds, result.summary["accesses"]["walks"]
