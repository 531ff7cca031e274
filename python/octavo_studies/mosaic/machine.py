"""(i) and (j): what a TLB miss holds up, how far the L2 cache is, how wide the bus is; inputs of other sizes.

The publication does not say these things; the simulator that its authors published does (its shipped configuration may
not be the one behind the figures). No machine here is chosen by the average that it leads to: all are shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.errors import ScenarioError
from octavo.runs import pictures
from octavo_studies.engine import Found, Part, Row, Runs, compared
from octavo_studies.mosaic import systems, under
from octavo_studies.mosaic.study import Study, means
from octavo_studies.publications import published

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from octavo_studies.mosaic.study import Key

SIZES = {"4 KiB pages": systems.GPU_MMU, "2 MiB pages": systems.LARGE}

NON_BLOCKING = ("node.l1_tlb.on_miss=non-blocking",)
BLOCKING = ("node.l1_tlb.on_miss=blocking",)
"""The published simulator: the load/store unit tries a missed access again each cycle, and what is behind it waits
(shader.cc, `memory_cycle`)."""
UNDER_ONE_MISS = ("node.l1_tlb.on_miss=hits-under-misses", "node.l1_tlb.miss_registers=1")
DELAY = ("node.l2.latency=95cycles",)
"""The 85 cycles (`-rop_latency`, default of gpu-sim.cc) that each access of the L2 cache waits in the published
simulator, beside the 10 of the publication; data and walks alike."""
SHIPPED_VALUES = (
    "node.clock=700MHz",
    "node.dram.line_cycles=24cycles",
    "node.l1_tlb.entries=64",
    "node.l1_tlb.ways=64",
)
"""Its configuration where the publication has other values: 700 MHz, memory of 924 MHz x 4 x 4 B x 6 = 88.7 GB/s, and
64 entries of the L1 TLB. Here, 48 banks of 64 bytes in 24 cycles are 89.6 GB/s."""


@dataclass(frozen=True)
class Machine:
    """One way to answer what the publication leaves open."""

    name: str
    preset: str
    overrides: tuple[str, ...] = ()
    always: bool = False
    """Whether a reduced study has it, too."""

    def changes(self, node: str) -> tuple[str, ...]:
        """What makes it of a study's node."""
        return self.overrides if self.preset == node else (f"node.preset={self.preset}", *self.overrides)


MACHINES = (
    Machine("stated", systems.STATED, always=True),
    Machine("stated, hits under one miss", systems.STATED, UNDER_ONE_MISS, always=True),
    Machine("stated, blocking", systems.STATED, BLOCKING, always=True),
    Machine("stated, delay", systems.STATED, DELAY),
    Machine("simulator, non-blocking", systems.NODE, NON_BLOCKING),
    Machine("simulator", systems.NODE, always=True),
    Machine("simulator, delay", systems.NODE, DELAY),
    Machine("simulator as shipped", systems.NODE, (*DELAY, *SHIPPED_VALUES)),
)
"""From the preset of what the publication states, one thing at a time, to the simulator's."""

SHIPPED = {
    "gups": ("workload.words=524288",),
    "red": ("workload.elements=262144",),
    "scan": ("workload.elements=262144",),
    "bfs2": ("workload.nodes=32768",),
    "lud": ("workload.rows=256",),
}
"""Inputs that come with the published simulator: 4 MiB, 1 MiB, 1 MiB, 32 k nodes, 256 x 256."""


def _machines(study: Study) -> list[under.Setting]:
    chosen = [machine for machine in MACHINES if machine.always or not study.ends]
    return [under.everywhere(study.applications, machine.name, machine.changes(study.node)) for machine in chosen]


def _inputs(study: Study) -> list[under.Setting]:
    """The study's inputs, and those that the published simulator ships, where it has others.

    Raises:
        ScenarioError: none of the applications has another input there.

    """
    chosen = tuple(name for name in study.applications if name in SHIPPED)
    if not chosen:
        names = ", ".join(SHIPPED)
        raise ScenarioError(
            f"part `inputs`: expected at least one of {names}, which ship with another input",
            code="unexpected-value",
            key="inputs",
        )
    shipped = under.Setting("shipped", {name: SHIPPED[name] for name in chosen})
    return [under.everywhere(chosen, "the study's", ()), shipped]


IDEAL = "ideal TLB"
SYSTEMS = {name: systems.without_paging(system) for name, system in {IDEAL: systems.IDEAL, **SIZES}.items()}


def _losses(
    name: str, title: str, settings: Callable[[Study], list[under.Setting]], *, beside: bool = False
) -> Part[Study]:
    """Average loss of each page size against the ideal TLB, all pages being in memory."""

    def tables(_study: Study, points: pl.DataFrame) -> dict[str, Any]:
        found = points.group_by("setting", maintain_order=True).agg(pl.col(size).mean() for size in SIZES)
        rows = [
            compared(f"{row['setting']}, {size}", row[size], loss)
            for row in (found.to_dicts() if beside else ())
            for size, loss in published("mosaic")["loss_without_paging"].items()
        ]
        return means(found, rows)

    def losses(time: Mapping[str, int]) -> Row:
        return {size: 1 - time[IDEAL] / time[size] for size in SIZES}

    rows = under.rows(settings, SYSTEMS, losses)
    return Part(name, lambda _: title, under.runs(settings, SYSTEMS), rows, tables, _draw)


def _draw(part: Found, _runs: Runs[Key]) -> None:
    table = part.means.with_columns(pl.col(size) * 100 for size in SIZES)
    pictures.bars(part.root / "losses.png", table, xlabel="loss (%)", title=part.title)


machines = _losses("machines", "Loss against the ideal TLB of the same machine", _machines, beside=True)
inputs = _losses("inputs", "Loss against the ideal TLB, by input", _inputs)
