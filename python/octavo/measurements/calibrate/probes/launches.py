"""The cost of launching a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.measurements.calibrate.fits import line, plain
from octavo.measurements.calibrate.panels import colour, curve, fitted, panels, points, scale
from octavo.measurements.calibrate.probes.probe import Probe, Series, Stage, Value

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from octavo.measurements.calibrate.measurement import Measured
    from octavo.measurements.calibrate.node.draft import Draft
    from octavo.measurements.calibrate.samples import Samples

_SERIES = {
    "launch": Series("many empty launches, then one wait", ("how",)),
    "launch_wait": Series("one empty launch and its wait", ("how",)),
}
_HOW = {"stream": "into a stream", "graph": "as nodes of a graph"}
_SHOWN = {"stream": "into a stream", "graph": "as a graph"}


def _values(how: str) -> list[Value]:
    each = f"each further empty launch in a row, {_HOW[how]}"
    first = f"what launching and waiting take beside the launches, {_HOW[how]}"
    alone = f"one empty launch {_HOW[how]} and the wait for its end"
    where = {"how": how}
    return [
        Value(f"launch_{how}", "s", "launches", "launch", each, line.CALLS, line.each_call, where),
        Value(f"launch_start_{how}", "s", "launches", "launch", first, line.CALLS, line.start_of_calls, where),
        Value(f"launch_wait_{how}", "s", "launches", "launch_wait", alone, plain.TIME, plain.seconds, where),
    ]


_VALUES = [value for how in _HOW for value in _values(how)]


def _derive(draft: Draft) -> None:
    """Time of each further launch in a row."""
    key = "compute.kernel_overhead"
    if (seconds := draft.number("launch_stream", key)) is None:
        return
    cycles = max(0, draft.cycles(seconds) - draft.count("compute.group_launch"))
    draft.put_cycles(key, cycles, f"measured {draft.named('launch_stream')}, less compute.group_launch")


def _draw(samples: Samples, measured: Mapping[str, Measured], folder: Path) -> list[Path]:
    """Measured times with the fitted lines."""
    found = panels(["empty kernels"])
    (axes,) = found.axes
    for index, (how, words) in enumerate(_SHOWN.items()):
        rows = points(samples.series("launch").filter(how=how), "count", pl.col("seconds"))
        curve(axes, rows, "count", name=words, paint=colour(index), joined=False)
        start, each = measured.get(f"launch_start_{how}"), measured.get(f"launch_{how}")
        if start and each:
            times = [start.value + count * each.value for count in rows["count"]]
            fitted(axes, rows["count"], times, paint=colour(index))
    scale(axes, "x", "1", "launches in a row")
    scale(axes, "y", "s", "time until all have run")
    return [found.save(folder / "launches.png", "Kernel launches (dashed: as fitted)")]


PROBE = Probe("launches", _SERIES, _VALUES, _draw, {Stage.LAUNCH: _derive})
