"""(f), (g) and (h): entries of the TLBs, fragmented memory, memory bloat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.runs import pictures
from octavo_studies.engine import Found, Part, Row, Runs, series
from octavo_studies.mosaic import mixes, systems
from octavo_studies.mosaic.study import Study, means

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from octavo.runs.experiment import Variant
    from octavo.runs.result import RunResult
    from octavo_studies.mosaic.study import Key

    Settings = list[tuple[dict[str, Any], Variant]]

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


def _entries(study: Study) -> Settings:
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


def _fragments(study: Study) -> Settings:
    points_of = [(index, HALF) for index in study.values(INDICES, INDICES[-1])]
    points_of += [(100, occupancy) for occupancy in study.values(OCCUPANCIES, HALF) if occupancy != HALF]
    return [
        ({"index": index, "occupancy": occupancy, "compaction": label}, _fragmented(index, occupancy, label, model))
        for index, occupancy in points_of
        for label, model in COMPACTIONS.items()
    ]


def _draw_fragments(part: Found, _runs: Runs[Key]) -> None:
    for varied, fixed, value in (("index", "occupancy", HALF), ("occupancy", "index", 100)):
        rows = part.means.filter(pl.col(fixed) == value).sort(varied, maintain_order=True)
        axes, title = (
            (f"{varied} (%)", "relative weighted speed-up"),
            f"By {varied} of fragmentation, {fixed} {value} %",
        )
        series.lines(part.root / f"by_{varied}.png", rows, "compaction", varied, "relative", axes, title=title)


def _occupied(study: Study) -> dict[str, int]:
    """The run of each occupancy, by the label of its variant."""
    values = study.values(OCCUPANCIES, OCCUPANCIES[-1])
    return {_fragmented(100, occupancy, "CAC", "worst-case").label: occupancy for occupancy in values}


def _bloats(study: Study, results: Mapping[Key, RunResult]) -> Iterator[Row]:
    occupied = _occupied(study)
    for (mix, label), result in results.items():
        (use,) = result.summary["memory_use"]
        yield {"mix": mixes.label(mix), "occupancy": occupied[label], "bloat": use["bloat"]}


def _draw_bloat(part: Found, _runs: Runs[Key]) -> None:
    found = part.means
    line = {"Mosaic": ([float(value) for value in found["occupancy"]], [100 * value for value in found["bloat"]])}
    pictures.lines(part.root / "bloat.png", line, ("occupancy (%)", "bloat (%)"), title=part.title)


def _at(system: Variant, axis: Axis, entries: int) -> Variant:
    return systems.changed(system, f"{axis.name} {entries}", *axis.overrides(entries))


def _fragmented(index: int, occupancy: int, label: str, model: str) -> Variant:
    memory = f"memory.fragmentation={{index = {index}, occupancy = {occupancy}}}"
    return systems.changed(
        MOSAIC, f"{label} index {index} occupancy {occupancy}", memory, f"memory.sizing.compaction={model}"
    )


def _sweep(
    name: str, title: str, settings: Callable[[Study], Settings], draw: Callable[[Found, Runs[Key]], object]
) -> Part[Study]:
    """Weighted speed-up of two copies of each application in every setting, relative to GPU-MMU in none."""

    def wanted(study: Study) -> dict[Key, Variant]:
        found: dict[Key, Variant] = {}
        for mix in mixes.copies(study.applications, TOGETHER):
            found.update(study.alone(mix))
            found[mix, GPU_MMU.label] = GPU_MMU
            found.update({(mix, variant.label): variant for _, variant in settings(study)})
        return found

    def rows(study: Study, results: Mapping[Key, RunResult]) -> Iterator[Row]:
        for mix in mixes.copies(study.applications, TOGETHER):
            reference = study.weighted_speedup(mix, results[mix, GPU_MMU.label], results)
            for setting, variant in settings(study):
                speedup = study.weighted_speedup(mix, results[mix, variant.label], results)
                yield {"mix": mixes.label(mix), **setting, "relative": speedup / reference}

    def tables(_study: Study, points: pl.DataFrame) -> dict[str, Any]:
        varied = points.columns[1:-1]
        return means(points.group_by(*varied, maintain_order=True).agg(pl.col("relative").mean()))

    return Part(name, lambda _: title, wanted, rows, tables, draw)


tlb_entries = _sweep(
    "tlb-entries", "Weighted speed-up by number of TLB entries, relative to GPU-MMU", _entries, _draw_entries
)
fragmentation = _sweep(
    "fragmentation", "Weighted speed-up in fragmented memory, relative to GPU-MMU", _fragments, _draw_fragments
)
bloat: Part[Study] = Part(
    "bloat",
    title=lambda _: "Memory bloat by occupancy of fragmented frames",
    wanted=lambda study: {
        (mix, label): _fragmented(100, occupancy, "CAC", "worst-case")
        for mix in mixes.copies(study.applications, TOGETHER)
        for label, occupancy in _occupied(study).items()
    },
    rows=_bloats,
    tables=lambda _, points: means(points.group_by("occupancy", maintain_order=True).agg(pl.col("bloat").mean())),
    draw=_draw_bloat,
)
"""Memory that Mosaic takes beyond its base pages, by occupancy of fragmented frames."""
