"""Memory that CPU and GPU share: demand, faults, what faults fetch, prefetches, hints, contention."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.measured.calibrate import quantities
from octavo.measured.calibrate.draw.panels import colour, curve, fitted, panels, points, scale, whole_numbers
from octavo.measured.calibrate.fits import fetches
from octavo.measured.calibrate.fits.estimate import Unfit
from octavo.measured.calibrate.fits.fault_cost import with_groups
from octavo.measured.calibrate.fits.rows import at_largest
from octavo.measured.calibrate.values.unified import HINTS, PHASES
from octavo.runs import pictures

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from matplotlib.axes import Axes

    from octavo.measured.calibrate.measured import Measured
    from octavo.measured.calibrate.samples import Samples

_WAYS = {"to_gpu": "to the GPU", "to_cpu": "to the CPU"}
_PATTERNS = ("sequential", "strided", "random")
_WORDS = {"managed": "Managed memory", "system": "Memory allocated by the system"}
_RATE = pl.col("bytes") / pl.col("seconds")


def draw(samples: Samples, measured: Mapping[str, Measured], folder: Path) -> list[Path]:
    """Every picture of the probe, of the series that it has."""
    makers = {
        "demand": (_demand, _faults),
        "step": (_steps,),
        "prefetch": (_sizes,),
        "advise": (_hints,),
        "ping_pong": (_ping_pong,),
    }
    there = [make for series, made in makers.items() if samples.series(series).height for make in made]
    drawn = [make(samples, measured, folder) for make in there]
    return [path for path in drawn if path is not None]


def _demand(samples: Samples, _measured: Mapping[str, Measured], folder: Path) -> Path:
    found = panels([f"migrating {words}" for words in _WAYS.values()], share_y=True)
    for axes, way in zip(found.axes, _WAYS, strict=True):
        rows = at_largest(samples.series("demand").filter(direction=way), "size")
        for index, pattern in enumerate(_PATTERNS):
            chosen = rows.filter(pattern=pattern).filter(pl.col("stride") == pl.col("stride").min())
            if chosen.height:
                stride = f", stride {quantities.short(float(chosen['stride'][0]), 'B')}" if pattern == "strided" else ""
                paint, marker = colour(index), "os^"[index]
                curve(
                    axes, points(chosen, "blocks", _RATE), "blocks", name=pattern + stride, paint=paint, marker=marker
                )
        scale(axes, "x", "1", "blocks of threads in flight" if way == "to_gpu" else "threads")
    scale(found.axes[0], "y", "B/s", "useful bandwidth")
    return found.save(folder / f"{samples.probe}_demand.png", f"{_WORDS[samples.probe]}: migration on demand")


def _faults(samples: Samples, measured: Mapping[str, Measured], folder: Path) -> Path | None:
    """Time for each page when every page is a fault of its own: the more are in flight, the fewer groups there are."""
    found = panels([f"migrating {words}" for words in _WAYS.values()], share_y=True)
    drawn = [_draw_faults(axes, samples, measured, way) for axes, way in zip(found.axes, _WAYS, strict=True)]
    if not any(drawn):
        return None
    scale(found.axes[0], "y", "s", "time for each page that faults")
    title = f"{_WORDS[samples.probe]}: a fault for each page (dashed: groups and pages as fitted)"
    return found.save(folder / f"{samples.probe}_faults.png", title)


def _draw_faults(axes: Axes, samples: Samples, measured: Mapping[str, Measured], way: str) -> bool:
    try:
        rows = with_groups(samples.series("demand").filter(direction=way))
    except Unfit:
        return False
    costs = [measured.get(f"{samples.probe}_fault_{part}_{way}") for part in ("group", "page")]
    for index, size in enumerate(rows["size"].unique().sort()):
        chosen = rows.filter(size=size)
        each = points(chosen, "blocks", pl.col("seconds") / pl.col("pages"))
        name = f"{quantities.short(float(size), 'B')}, {chosen['pages'][0]} pages"
        curve(axes, each, "blocks", name=name, paint=colour(index), marker="os^vD"[index % 5], joined=False)
        group, page = costs
        if group and page:
            groups = chosen.unique("blocks").sort("blocks")
            times = groups["groups"] * group.value / groups["pages"] + page.value
            fitted(axes, groups["blocks"], times, paint=colour(index))
    scale(axes, "x", "1", "pages in flight")
    return True


def _steps(samples: Samples, _measured: Mapping[str, Measured], folder: Path) -> Path | None:
    """The touches of one block of 2 MiB, and how much each fault fetched beside what the driver's tree would."""
    rows = samples.series("step")
    try:
        first = fetches.fetches(rows)[0]
    except Unfit:
        return None
    found = panels(["touches of a fresh block, page by page", "what each fault fetched"])
    touches, sizes = found.axes
    largest = at_largest(rows, "size").filter(pl.col("page") < fetches.PAGES)
    median = points(largest, "page", pl.col("seconds"))
    slow = median["page"].is_in(first.pages.tolist())
    for kind, chosen, paint in (
        ("no fault", median.filter(~slow), colour(7)),
        ("fault", median.filter(slow), colour(1)),
    ):
        touches.plot(chosen["page"], chosen["middle"], "o", markersize=3, color=paint, label=kind)
    touches.set_xlabel("page of 4 KiB", fontsize=9)
    scale(touches, "y", "s", "time of the touch")
    sequence = fetches.block_sequences(first)[0]
    _bars(sizes, sequence)
    return found.save(folder / f"{samples.probe}_steps.png", f"{_WORDS[samples.probe]}: the driver's prefetcher")


def _bars(axes: Axes, sequence: list[int]) -> None:
    width = 0.4
    for shift, paint, name, values in (
        (-width / 2, colour(0), "measured", sequence),
        (width / 2, colour(7), "tree of driver 595", list(fetches.GOLDEN)),
    ):
        axes.bar([index + 1 + shift for index in range(len(values))], values, width, color=paint, label=name)
    axes.set_xticks(range(1, max(len(sequence), len(fetches.GOLDEN)) + 1))
    axes.set_xlabel("fault in the block", fontsize=9)
    scale(axes, "y", "B", "bytes fetched", base=2)


def _sizes(samples: Samples, measured: Mapping[str, Measured], folder: Path) -> Path:
    found = panels(["explicit prefetch", "first touch of fresh memory"], share_y=True)
    prefetch, touch = found.axes
    for index, (way, words) in enumerate(_WAYS.items()):
        rows = points(samples.series("prefetch").filter(direction=way), "size", _RATE)
        curve(prefetch, rows, "size", name=words, paint=colour(index), marker="os"[index], joined=False)
        costs = [measured.get(f"{samples.probe}_prefetch_{part}_{way}") for part in ("overhead", "bandwidth")]
        if costs[0] and costs[1]:
            rates = [size / (costs[0].value + size / costs[1].value) for size in rows["size"]]
            fitted(prefetch, rows["size"], rates, paint=colour(index))
    for index, by in enumerate(("gpu", "cpu")):
        rows = points(samples.series("first_touch").filter(by=by), "size", _RATE)
        curve(touch, rows, "size", name=f"by the {by.upper()}", paint=colour(2 + index))
    for axes in found.axes:
        scale(axes, "x", "B", "size")
    scale(prefetch, "y", "B/s", "bandwidth")
    title = f"{_WORDS[samples.probe]}: prefetch and first touch (dashed: as fitted)"
    return found.save(folder / f"{samples.probe}_sizes.png", title)


def _hints(samples: Samples, measured: Mapping[str, Measured], folder: Path) -> Path | None:
    """Bandwidth by hint and phase."""
    grid = [[measured.get(f"{samples.probe}_advise_{hint}_{phase}") for phase in PHASES] for hint in HINTS]
    rows = [(hint, line) for hint, line in zip(HINTS, grid, strict=True) if any(line)]
    if not rows:
        return None
    values = [[one.value / 1e9 if one else float("nan") for one in line] for _, line in rows]
    path = folder / f"{samples.probe}_hints.png"
    names = [hint.replace("_", " ") for hint, _ in rows]
    phases = [phase.replace("_", "\n") for phase in PHASES]
    title = f"{_WORDS[samples.probe]}: GB/s after a hint"
    pictures.heat_map(path, values, names, phases, ("hint", "phase, one after another"), title, floor=0.0)
    return path


def _ping_pong(samples: Samples, _measured: Mapping[str, Measured], folder: Path) -> Path:
    rows = samples.series("ping_pong")
    sizes = rows["size"].unique().sort().to_list()
    found = panels([quantities.short(float(size), "B") for size in sizes], share_y=True)
    for axes, size in zip(found.axes, sizes, strict=True):
        for index, side in enumerate(("gpu", "cpu")):
            each = pl.col("seconds") / pl.col("pages")
            chosen = points(rows.filter(size=size, side=side), "round", each)
            curve(axes, chosen, "round", name=f"{side.upper()} writes", paint=colour(index))
        whole_numbers(axes, "round")
    scale(found.axes[0], "y", "s", "time for each page")
    title = f"{_WORDS[samples.probe]}: CPU and GPU write the same pages in turn"
    return found.save(folder / f"{samples.probe}_ping_pong.png", title)
