"""(g): memory that foreign data leave just enough of, so that large frames run out and memory is compacted."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo_studies.engine import Found, Part, Row, Runs, series
from octavo_studies.mosaic import sharing, systems, together
from octavo_studies.mosaic.study import Study, counted, means
from octavo_studies.mosaic.together import MOSAIC

if TYPE_CHECKING:
    from octavo.runs.experiment import Variant
    from octavo.runs.result import RunResult
    from octavo_studies.mosaic.study import Key

INDICES = (0, 50, 75, 90, 100)
"""Share of the large frames that hold foreign data, in per cent."""
OCCUPANCIES = (1, 10, 25, 50, 75)
"""How full those are, in per cent."""
HALF, ALL = 50, 100
"""The occupancy and the index that stay as they are while the other varies (figures 16a and 16b)."""
COMPACTIONS = {"no CAC": "none", "CAC": "worst-case", "CAC-BC": "bulk-copy", "ideal CAC": "ideal"}
COUNTS = {
    "compactions": "compactions",
    "pages moved": "pages_compacted",
    "lacking": "large_frames_lacking",
    "emergency": "emergency_splinters",
    "large pages": "coalesced",
    sharing.BROKEN: "soft_guarantee_broken",
}
"""What runs count: large frames that CoCoA asked for and compaction freed or could not free, and what became of it."""


def points_of(study: Study) -> list[tuple[int, int]]:
    """Every index at half occupancy, then every occupancy where all large frames hold foreign data."""
    found = [(index, HALF) for index in study.values(INDICES, ALL)]
    return found + [(ALL, occupancy) for occupancy in study.values(OCCUPANCIES, HALF) if occupancy != HALF]


def fragmented(system: Variant, index: int, occupancy: int, compaction: str) -> Variant:
    """A system in memory that foreign data fill in part, and applications fill the rest of."""
    left = 100 * 100 - index * occupancy
    return systems.changed(
        system,
        f"{compaction} index {index} occupancy {occupancy}",
        f"memory.fragmentation={{index = {index}, occupancy = {occupancy}}}",
        "node.capacity.bytes=0B",
        f"node.capacity.footprint_percent={ceil(100 * 100 * 100 / left)}",
        f"memory.sizing.compaction={COMPACTIONS[compaction]}",
    )


def _settings(study: Study) -> list[tuple[dict[str, Any], Variant]]:
    return [
        (
            {"index": index, "occupancy": occupancy, "compaction": compaction},
            fragmented(MOSAIC, index, occupancy, compaction),
        )
        for index, occupancy in points_of(study)
        for compaction in COMPACTIONS
    ]


def _counted(result: RunResult) -> Row:
    return {name: counted(result, key) for name, key in COUNTS.items()}


def _tables(_study: Study, points: pl.DataFrame) -> dict[str, Any]:
    by = points.group_by("index", "occupancy", "compaction", maintain_order=True)
    median = pl.col("relative").median().alias("median")
    return means(by.agg(pl.col("relative").mean(), median, pl.col(*COUNTS).sum()))


def _draw(part: Found, _runs: Runs[Key]) -> None:
    for varied, fixed, value in (("index", "occupancy", HALF), ("occupancy", "index", ALL)):
        rows = part.means.filter(pl.col(fixed) == value).sort(varied, maintain_order=True)
        axes = (f"{varied} (%)", "relative weighted speed-up")
        title = f"By {varied} of fragmentation, {fixed} {value} %"
        series.lines(part.root / f"by_{varied}.png", rows, "compaction", varied, "relative", axes, title=title)


fragmentation: Part[Study] = Part(
    "fragmentation",
    title=lambda _: "Weighted speed-up in fragmented, full memory, relative to GPU-MMU",
    wanted=together.runs(_settings),
    rows=together.rows(_settings, _counted),
    tables=_tables,
    draw=_draw,
)
"""By index, occupancy and compaction, with what was counted in all mixes together."""
