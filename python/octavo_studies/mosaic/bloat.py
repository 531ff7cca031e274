"""(h): the memory that large pages take beyond base pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from octavo_studies.engine import Found, Part, Row, Runs, series
from octavo_studies.mosaic import systems
from octavo_studies.mosaic.fragmentation import ALL, OCCUPANCIES, fragmented
from octavo_studies.mosaic.study import Study, means

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from octavo.runs.experiment import Variant
    from octavo.runs.result import RunResult
    from octavo_studies.mosaic.study import Key

_NUMBERED = ("memory.allocator=chunks",)
"""Frames have numbers."""
_PAGE = 4096
_MIB = 1 << 20
LAYOUTS = ("256B", "2MiB")
"""How far apart buffers lie: packed as in the other parts, or each in large pages of its own."""
PACKED = LAYOUTS[0]


def _frames(system: Variant, layout: str, *overrides: str) -> Variant:
    """A system of which only the frames matter: which page is in which needs no time."""
    changes = (*overrides, f"program.alignment={layout}", "executor.kind=instant")
    return systems.changed(system, f"frames {layout}", *changes)


def _touched(layout: str) -> Variant:
    """Base pages that an application touches, where each has its own place in its block's large frame."""
    return _frames(systems.with_paging(systems.GPU_MMU), layout, *_NUMBERED)


def _large(layout: str) -> Variant:
    return _frames(systems.without_paging(systems.LARGE), layout, *_NUMBERED)


def _mosaics(study: Study, layout: str) -> dict[int, Variant]:
    """Mosaic in memory that is not fragmented, then by the occupancy of all large frames."""
    mosaic = _frames(systems.without_paging(systems.MOSAIC), layout)
    occupied = study.values(OCCUPANCIES, OCCUPANCIES[-1]) if layout == PACKED else ()
    return {0: mosaic, **{occupancy: fragmented(mosaic, ALL, occupancy, "CAC") for occupancy in occupied}}


def _wanted(study: Study) -> dict[Key, Variant]:
    variants = [
        variant
        for layout in LAYOUTS
        for variant in (_touched(layout), _large(layout), *_mosaics(study, layout).values())
    ]
    return {((name,), variant.label): variant for name in study.applications for variant in variants}


def taken(result: RunResult) -> int:
    """Base pages that nobody else can have: those of large frames in use, without foreign data."""
    (use,) = result.summary["memory_use"]
    return round(use["base_frames"] * (1 + use["bloat"]))


def _rows(study: Study, results: Mapping[Key, RunResult]) -> Iterator[Row]:
    """Bloat is relative to the base pages that an application allocates, and to those that it touches."""
    for layout in LAYOUTS:
        mosaics = _mosaics(study, layout)
        for name in study.applications:
            runs = {label: result for ((one,), label), result in results.items() if one == name}
            (touched,) = runs[_touched(layout).label].summary["memory_use"]
            (allocated,) = runs[mosaics[0].label].summary["memory_use"]
            pages = allocated["base_frames"]
            held = [("2 MiB pages", 0, taken(runs[_large(layout).label]) * (2 * _MIB // _PAGE))]
            held += [("Mosaic", at, taken(runs[of.label])) for at, of in mosaics.items()]
            for system, occupancy, base in held:
                yield {
                    "application": name,
                    "MiB": pages * _PAGE / _MIB,
                    "buffers apart": layout,
                    "system": system,
                    "occupancy": occupancy,
                    "bloat": base / pages - 1,
                    "over touched": base / touched["base_frames"] - 1,
                }


def _tables(_study: Study, points: pl.DataFrame) -> dict[str, Any]:
    by = points.group_by("buffers apart", "system", "occupancy", maintain_order=True)
    together = (pl.col("MiB") * (1 + pl.col("bloat"))).sum() / pl.col("MiB").sum() - 1
    most, touched = pl.col("bloat").max().alias("most"), pl.col("over touched").mean()
    return means(by.agg(pl.col("bloat").mean(), most, together.alias("of all together"), touched))


def _draw(part: Found, _runs: Runs[Key]) -> None:
    whole = part.points.filter(pl.col("occupancy") == 0).with_columns(pl.col("bloat") * 100)
    named = pl.format("{}, {} apart", "system", "buffers apart").alias("system")
    shown = whole.with_columns(named)
    series.bars(part.root / "bloat.png", shown, "application", "system", "bloat", xlabel="bloat (%)", title=part.title)
    packed = part.means.filter(pl.col("buffers apart") == PACKED)
    mosaic = packed.filter(pl.col("system") == "Mosaic").with_columns(pl.col("bloat") * 100)
    labels = ("occupancy of all large frames (%)", "bloat (%)")
    series.lines(part.root / "by_occupancy.png", mosaic, "system", "occupancy", "bloat", labels, title=part.title)


bloat: Part[Study] = Part(
    "bloat",
    title=lambda _: "Memory beyond that of 4 KiB pages",
    wanted=_wanted,
    rows=_rows,
    tables=_tables,
    draw=_draw,
)
"""Of 2 MiB pages alone and of Mosaic, by application, and by occupancy where memory is fragmented and full."""
