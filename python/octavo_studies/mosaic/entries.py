"""(f): entries of the TLBs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo_studies.engine import Found, Part, Runs, series
from octavo_studies.mosaic import systems, together
from octavo_studies.mosaic.study import Study, means
from octavo_studies.mosaic.together import GPU_MMU, MOSAIC

if TYPE_CHECKING:
    from octavo.runs.experiment import Variant
    from octavo_studies.mosaic.study import Key


@dataclass(frozen=True)
class Axis:
    """One number of entries that is varied."""

    name: str
    key: str
    """The table of the node that has `entries` and `ways`."""
    values: tuple[int, ...]
    published: int
    ways: int | None = None
    """Ways, if they stay as they are; all entries otherwise."""

    def overrides(self, entries: int) -> tuple[str, ...]:
        """The node with so many entries."""
        return (f"{self.key}.entries={entries}", f"{self.key}.ways={min(entries, self.ways or entries)}")


AXES = (
    Axis("L1 base entries", "node.l1_tlb", (8, 16, 32, 64, 128, 256), 128),
    Axis("L1 large entries", "node.l1_tlb.large", (4, 8, 16, 32, 64), 16),
    Axis("L2 base entries", "node.l2_tlb", (64, 128, 256, 512, 1024, 4096), 512, 16),
    Axis("L2 large entries", "node.l2_tlb.large", (32, 64, 128, 256), 256),
)


def _entries(study: Study) -> list[tuple[dict[str, Any], Variant]]:
    return [
        ({"axis": axis.name, "entries": entries, "system": system.label}, _at(system, axis, entries))
        for axis in AXES
        for entries in study.values(axis.values, axis.published)
        for system in (GPU_MMU, MOSAIC)
    ]


def _draw_entries(part: Found, _runs: Runs[Key]) -> None:
    for (axis,), rows in part.means.group_by("axis", maintain_order=True):
        path = part.root / f"{str(axis).lower().replace(' ', '_')}.png"
        labels = (str(axis), "relative weighted speed-up")
        series.lines(path, rows, "system", "entries", "relative", labels, title=axis)


def _at(system: Variant, axis: Axis, entries: int) -> Variant:
    return systems.changed(system, f"{axis.name} {entries}", *axis.overrides(entries))


def _tables(_study: Study, points: pl.DataFrame) -> dict[str, Any]:
    by = points.group_by("axis", "entries", "system", maintain_order=True)
    return means(by.agg(pl.col("relative").mean()))


tlb_entries: Part[Study] = Part(
    "tlb-entries",
    title=lambda _: "Weighted speed-up by number of TLB entries, relative to GPU-MMU",
    wanted=together.runs(_entries),
    rows=together.rows(_entries),
    tables=_tables,
    draw=_draw_entries,
)
"""Two copies of each application with every number of entries."""
