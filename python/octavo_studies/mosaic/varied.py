"""(f), (g) and (h): entries of the TLBs, fragmented memory, memory bloat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.runs import pictures
from octavo_studies.engine import series
from octavo_studies.mosaic import mixes, systems
from octavo_studies.mosaic.study import leave

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from octavo.runs.experiment import Variant
    from octavo_studies.engine.found import Found
    from octavo_studies.mosaic.study import Key, Study

TOGETHER = 2
"""Copies of each application in these parts."""

GPU_MMU, MOSAIC = (systems.with_paging(system) for system in (systems.GPU_MMU, systems.MOSAIC))


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
INDICES = (0, 50, 75, 90, 100)
"""Share of the large frames that hold foreign data, in per cent."""
OCCUPANCIES = (1, 10, 25, 50, 75)
HALF = 50
"""How full those are, in per cent."""
COMPACTIONS = {"no CAC": "none", "CAC": "worst-case", "CAC-BC": "bulk-copy", "ideal CAC": "ideal"}


def tlb_entries(study: Study) -> Found:
    """Weighted speed-up by number of TLB entries, relative to GPU-MMU with the published ones."""
    settings = [
        ({"axis": axis.name, "entries": entries, "system": system.label}, _at(system, axis, entries))
        for axis in AXES
        for entries in study.values(axis.values, axis.published)
        for system in (GPU_MMU, MOSAIC)
    ]
    title = "Weighted speed-up by number of TLB entries, relative to GPU-MMU"
    return _sweep(study, "tlb-entries", title, settings, _draw_entries)


def _draw_entries(part: Found) -> None:
    for (axis,), rows in part.means.group_by("axis", maintain_order=True):
        path = part.root / f"{str(axis).lower().replace(' ', '_')}.png"
        labels = (str(axis), "relative weighted speed-up")
        series.lines(path, rows, "system", "entries", "relative", labels, title=axis)


def fragmentation(study: Study) -> Found:
    """Weighted speed-up in fragmented memory, relative to GPU-MMU in memory that is not."""
    points_of = [(index, HALF) for index in study.values(INDICES, INDICES[-1])]
    points_of += [(100, occupancy) for occupancy in study.values(OCCUPANCIES, HALF) if occupancy != HALF]
    settings = [
        ({"index": index, "occupancy": occupancy, "compaction": label}, _fragmented(index, occupancy, label, model))
        for index, occupancy in points_of
        for label, model in COMPACTIONS.items()
    ]
    title = "Weighted speed-up in fragmented memory, relative to GPU-MMU"
    return _sweep(study, "fragmentation", title, settings, _draw_fragmentation)


def _draw_fragmentation(part: Found) -> None:
    for varied, fixed, value in (("index", "occupancy", HALF), ("occupancy", "index", 100)):
        rows = part.means.filter(pl.col(fixed) == value).sort(varied, maintain_order=True)
        axes, title = (
            (f"{varied} (%)", "relative weighted speed-up"),
            f"By {varied} of fragmentation, {fixed} {value} %",
        )
        series.lines(part.root / f"by_{varied}.png", rows, "compaction", varied, "relative", axes, title=title)


def bloat(study: Study) -> Found:
    """Memory that Mosaic takes beyond its base pages, by occupancy of fragmented frames."""
    occupancies = study.values(OCCUPANCIES, OCCUPANCIES[-1])
    chosen = {occupancy: _fragmented(100, occupancy, "CAC", "worst-case") for occupancy in occupancies}
    pairs = mixes.copies(study.applications, TOGETHER)
    runs = study.run("bloat", {(mix, variant.label): variant for mix in pairs for variant in chosen.values()})
    rows = []
    for mix in pairs:
        for occupancy, variant in chosen.items():
            (use,) = runs.results[mix, variant.label].summary["memory_use"]
            rows.append({"mix": mixes.label(mix), "occupancy": occupancy, "bloat": use["bloat"]})
    points = pl.DataFrame(rows)
    means = points.group_by("occupancy", maintain_order=True).agg(pl.col("bloat").mean())
    return leave(runs, "Memory bloat by occupancy of fragmented frames", points, means, _draw_bloat)


def _draw_bloat(part: Found) -> None:
    means = part.means
    line = {"Mosaic": ([float(value) for value in means["occupancy"]], [100 * value for value in means["bloat"]])}
    pictures.lines(part.root / "bloat.png", line, ("occupancy (%)", "bloat (%)"), title=part.title)


def _at(system: Variant, axis: Axis, entries: int) -> Variant:
    return systems.changed(system, f"{axis.name} {entries}", *axis.overrides(entries))


def _fragmented(index: int, occupancy: int, label: str, model: str) -> Variant:
    memory = f"memory.fragmentation={{index = {index}, occupancy = {occupancy}}}"
    return systems.changed(
        MOSAIC, f"{label} index {index} occupancy {occupancy}", memory, f"memory.sizing.compaction={model}"
    )


def _sweep(
    study: Study,
    name: str,
    title: str,
    settings: Sequence[tuple[dict[str, Any], Variant]],
    draw: Callable[[Found], object],
) -> Found:
    pairs = mixes.copies(study.applications, TOGETHER)
    wanted: dict[Key, Variant] = {}
    for mix in pairs:
        wanted.update(study.alone(mix))
        wanted[mix, GPU_MMU.label] = GPU_MMU
        wanted.update({(mix, variant.label): variant for _, variant in settings})
    runs = study.run(name, wanted)
    rows = []
    for mix in pairs:
        reference = study.weighted_speedup(mix, runs.results[mix, GPU_MMU.label], runs.results)
        for setting, variant in settings:
            speedup = study.weighted_speedup(mix, runs.results[mix, variant.label], runs.results)
            rows.append({"mix": mixes.label(mix), **setting, "relative": speedup / reference})
    points = pl.DataFrame(rows)
    means = points.group_by(*settings[0][0], maintain_order=True).agg(pl.col("relative").mean())
    return leave(runs, title, points, means, draw)
