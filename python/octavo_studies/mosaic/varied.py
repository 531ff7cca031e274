"""(f), (g) and (h): entries of the TLBs, fragmented memory, memory bloat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.runs import pictures
from octavo_studies.mosaic import mixes, systems
from octavo_studies.mosaic.study import Part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.runs.experiment import Variant
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
"""How full those are, in per cent."""
COMPACTIONS = {"no CAC": "none", "CAC": "worst-case", "CAC-BC": "bulk-copy", "ideal CAC": "ideal"}


def tlb_entries(study: Study) -> Part:
    """Weighted speed-up by number of TLB entries, relative to GPU-MMU with the published ones."""
    settings = [
        ({"axis": axis.name, "entries": entries, "system": system.label}, _at(system, axis, entries))
        for axis in AXES
        for entries in study.values(axis.values, axis.published)
        for system in (GPU_MMU, MOSAIC)
    ]
    root, key, points = _sweep(study, "tlb-entries", settings)
    means = points.group_by("axis", "entries", "system", maintain_order=True).agg(pl.col("relative").mean())
    part = Part(root, "Weighted speed-up by number of TLB entries, relative to GPU-MMU", points, means, [])
    return part.save(key, lambda: _draw_entries(part))


def _draw_entries(part: Part) -> None:
    for axis in AXES:
        rows = part.means.filter(pl.col("axis") == axis.name)
        series = {
            system.label: _line(rows.filter(pl.col("system") == system.label), "entries")
            for system in (GPU_MMU, MOSAIC)
        }
        picture = part.root / f"{axis.name.lower().replace(' ', '_')}.png"
        pictures.lines(picture, series, (axis.name, "relative weighted speed-up"), title=axis.name)


def fragmentation(study: Study) -> Part:
    """Weighted speed-up in fragmented memory, relative to GPU-MMU in memory that is not."""
    half = 50
    points_of = [(index, half) for index in study.values(INDICES, INDICES[-1])]
    points_of += [(100, occupancy) for occupancy in study.values(OCCUPANCIES, half) if occupancy != half]
    settings = [
        ({"index": index, "occupancy": occupancy, "compaction": label}, _fragmented(index, occupancy, label, model))
        for index, occupancy in points_of
        for label, model in COMPACTIONS.items()
    ]
    root, key, points = _sweep(study, "fragmentation", settings)
    by = points.group_by("index", "occupancy", "compaction", maintain_order=True)
    part = Part(
        root,
        "Weighted speed-up in fragmented memory, relative to GPU-MMU",
        points,
        by.agg(pl.col("relative").mean()),
        [],
    )
    return part.save(key, lambda: _draw_fragmentation(part, half))


def _draw_fragmentation(part: Part, half: int) -> None:
    for varied, fixed, value in (("index", "occupancy", half), ("occupancy", "index", 100)):
        rows = part.means.filter(pl.col(fixed) == value).sort(varied, maintain_order=True)
        series = {label: _line(rows.filter(pl.col("compaction") == label), varied) for label in COMPACTIONS}
        title = f"By {varied} of fragmentation, {fixed} {value} %"
        axes = (f"{varied} (%)", "relative weighted speed-up")
        pictures.lines(part.root / f"by_{varied}.png", series, axes, title=title)


def bloat(study: Study) -> Part:
    """Memory that Mosaic takes beyond its base pages, by occupancy of fragmented frames."""
    occupancies = study.values(OCCUPANCIES, OCCUPANCIES[-1])
    chosen = {occupancy: _fragmented(100, occupancy, "CAC", "worst-case") for occupancy in occupancies}
    pairs = mixes.copies(study.applications, TOGETHER)
    wanted = {(mix, variant.label): variant for mix in pairs for variant in chosen.values()}
    root, key, results = study.run("bloat", wanted)
    rows = []
    for mix in pairs:
        for occupancy, variant in chosen.items():
            (use,) = results[mix, variant.label].summary["memory_use"]
            rows.append({"mix": mixes.label(mix), "occupancy": occupancy, "bloat": use["bloat"]})
    points = pl.DataFrame(rows)
    means = points.group_by("occupancy", maintain_order=True).agg(pl.col("bloat").mean())
    part = Part(root, "Memory bloat by occupancy of fragmented frames", points, means, [])
    line = {"Mosaic": ([float(value) for value in means["occupancy"]], [100 * value for value in means["bloat"]])}
    axes = ("occupancy (%)", "bloat (%)")
    return part.save(key, lambda: pictures.lines(root / "bloat.png", line, axes, title=part.title))


def _at(system: Variant, axis: Axis, entries: int) -> Variant:
    return systems.changed(system, f"{axis.name} {entries}", *axis.overrides(entries))


def _fragmented(index: int, occupancy: int, label: str, model: str) -> Variant:
    memory = f"memory.fragmentation={{index = {index}, occupancy = {occupancy}}}"
    return systems.changed(
        MOSAIC, f"{label} index {index} occupancy {occupancy}", memory, f"memory.sizing.compaction={model}"
    )


def _sweep(
    study: Study, name: str, settings: Sequence[tuple[dict[str, Any], Variant]]
) -> tuple[Any, str, pl.DataFrame]:
    pairs = mixes.copies(study.applications, TOGETHER)
    wanted: dict[Key, Variant] = {}
    for mix in pairs:
        wanted.update(study.alone(mix))
        wanted[mix, GPU_MMU.label] = GPU_MMU
        wanted.update({(mix, variant.label): variant for _, variant in settings})
    root, key, results = study.run(name, wanted)
    rows = []
    for mix in pairs:
        reference = study.weighted_speedup(mix, results[mix, GPU_MMU.label], results)
        for setting, variant in settings:
            speedup = study.weighted_speedup(mix, results[mix, variant.label], results)
            rows.append({"mix": mixes.label(mix), **setting, "relative": speedup / reference})
    return root, key, pl.DataFrame(rows)


def _line(rows: pl.DataFrame, x: str) -> tuple[list[float], list[float]]:
    return [float(value) for value in rows[x]], rows["relative"].to_list()
