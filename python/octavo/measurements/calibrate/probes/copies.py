"""Bulk copies between host and device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.measurements.calibrate import quantities
from octavo.measurements.calibrate.fits import line, plain
from octavo.measurements.calibrate.fits.estimate import Estimate, Unfit, spread
from octavo.measurements.calibrate.fits.rows import at_largest, chosen
from octavo.measurements.calibrate.panels import colour, curve, fitted, panels, points, scale
from octavo.measurements.calibrate.probes.probe import Probe, Series, Stage, Value

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from matplotlib.axes import Axes

    from octavo.measurements.calibrate.measurement import Measured
    from octavo.measurements.calibrate.node.draft import Draft
    from octavo.measurements.calibrate.samples import Samples

_SERIES = {
    "copy": Series("one synchronous copy", ("direction", "memory", "size")),
    "copy_issue": Series("an asynchronous copy until the call returns", ("direction", "size")),
    "copy_both": Series("copies in both directions at once", ("size",)),
    "copy_overlap": Series("a busy kernel and a copy, alone and together", ("what", "direction", "size")),
}
_WAYS = {"h2d": "host to device", "d2h": "device to host"}
_LARGE = "copy_bandwidth_h2d_pinned"
_OVERLAP = "(kernel + copy - both) / min(kernel, copy) at the largest size, for each repetition"


def _copy(direction: str, memory: str) -> list[Value]:
    where = {"direction": direction, "memory": memory}
    words = f"copies {_WAYS[direction]}, {memory} memory"
    names = (f"copy_bandwidth_{direction}_{memory}", f"copy_overhead_{direction}_{memory}")
    bandwidth = f"bandwidth of large {words}"
    overhead = f"overhead of a call, {words}"
    return [
        Value(names[0], "B/s", "copies", "copy", bandwidth, line.TRANSFER, line.bandwidth, where),
        Value(names[1], "s", "copies", "copy", overhead, line.TRANSFER, line.overhead, where),
    ]


def _issue(direction: str) -> Value:
    about = f"time until an asynchronous call returns, {_WAYS[direction]}, pinned memory"
    where = {"direction": direction}
    name = f"copy_issue_{direction}"
    return Value(name, "s", "copies", "copy_issue", about, plain.OVER_SIZES, plain.median_over_sizes, where)


def _both() -> list[Value]:
    bandwidth = "bandwidth of copies in both directions at once, bytes of both together, pinned memory"
    overhead = "overhead of a pair of copies in both directions at once"
    return [
        Value("copy_bandwidth_both", "B/s", "copies", "copy_both", bandwidth, line.TRANSFER, line.bandwidth),
        Value("copy_overhead_both", "s", "copies", "copy_both", overhead, line.TRANSFER, line.overhead),
    ]


def _overlap(direction: str) -> Value:
    about = f"share of the shorter of a busy kernel and a copy {_WAYS[direction]} that running both at once hides"
    where = {"direction": direction}
    name = f"copy_overlap_{direction}"
    return Value(name, "1", "copies", "copy_overlap", about, _OVERLAP, hidden_share, where)


def hidden_share(table: pl.DataFrame) -> Estimate:
    """How much of the shorter of kernel and copy is hidden when both run at once: 1 for all of it, 0 for nothing.

    Raises:
        Unfit: one of the three was not measured in any repetition.

    """
    largest = at_largest(table, "size")
    kernel, copy, both = (_by_repetition(largest, what) for what in ("kernel", "copy", "both"))
    common = [number for number in both if number in kernel and number in copy]
    if not common:
        raise Unfit("no repetition has kernel, copy and both")
    return spread([(kernel[n] + copy[n] - both[n]) / min(kernel[n], copy[n]) for n in common])


def _by_repetition(table: pl.DataFrame, what: str) -> dict[int, float]:
    rows = chosen(table, what=what)
    return dict(zip(rows["repetition"].to_list(), rows["seconds"].to_list(), strict=True))


def _link(draft: Draft) -> None:
    """The link has the bandwidth of bulk copies to the GPU: the simulated link is equally fast in both directions."""
    if (rate := draft.number(_LARGE, "host_link.bandwidth")) is not None:
        draft.put("host_link.bandwidth", quantities.text(rate, "B/s"), f"measured {draft.named(_LARGE)}")


def _staging(draft: Draft) -> None:
    """The driver stages ordinary memory through pinned memory of its own."""
    for to, way in (("to_gpu", "h2d"), ("to_host", "d2h")):
        name = f"copy_bandwidth_{way}_pageable"
        key = f"host.costs.staging.{to}"
        if (rate := draft.number(name, key)) is not None:
            draft.put(key, quantities.text(rate, "B/s"), f"measured {draft.named(name)}")


_RATE = pl.col("bytes") / pl.col("seconds")


def _draw(samples: Samples, measured: Mapping[str, Measured], folder: Path) -> list[Path]:
    """Measured bandwidths with the fitted lines."""
    found = panels(["pinned memory", "pageable memory"], share_y=True)
    for axes, memory in zip(found.axes, ("pinned", "pageable"), strict=True):
        for index, (direction, words) in enumerate(_WAYS.items()):
            rows = samples.series("copy").filter(memory=memory, direction=direction)
            _curve(axes, rows, measured, f"{direction}_{memory}", words, index)
        if memory == "pinned":
            _curve(axes, samples.series("copy_both"), measured, "both", "both at once, bytes of both", 2)
        scale(axes, "x", "B", "size of one copy")
    scale(found.axes[0], "y", "B/s", "bandwidth")
    return [found.save(folder / "copies.png", "Bulk copies (dashed: overhead and bandwidth as fitted)")]


def _curve(axes: Axes, rows: pl.DataFrame, measured: Mapping[str, Measured], name: str, words: str, index: int) -> None:
    if rows.is_empty():
        return
    found = points(rows, "size", _RATE)
    curve(axes, found, "size", name=words, paint=colour(index), joined=False)
    overhead, bandwidth = measured.get(f"copy_overhead_{name}"), measured.get(f"copy_bandwidth_{name}")
    if overhead and bandwidth:
        ratio = 2 if name == "both" else 1
        amounts = [ratio * size for size in found["size"]]
        rates = [amount / (overhead.value + amount / bandwidth.value) for amount in amounts]
        fitted(axes, found["size"], rates, paint=colour(index))


_VALUES = [
    *(value for direction in _WAYS for memory in ("pinned", "pageable") for value in _copy(direction, memory)),
    *map(_issue, _WAYS),
    *_both(),
    *map(_overlap, _WAYS),
]
PROBE = Probe("copies", _SERIES, _VALUES, _draw, {Stage.LINKS: _link, Stage.HOST: _staging})
