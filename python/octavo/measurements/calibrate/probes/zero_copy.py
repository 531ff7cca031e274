"""Kernels on pinned host memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from octavo.measurements.calibrate.fits import saturation
from octavo.measurements.calibrate.fits.estimate import Estimate, spread
from octavo.measurements.calibrate.fits.rows import at_largest, rates
from octavo.measurements.calibrate.node.draft import LINE
from octavo.measurements.calibrate.panels import colour, curve, panels, points, scale
from octavo.measurements.calibrate.probes.probe import Probe, Series, Stage, Value

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from octavo.measurements.calibrate.measurement import Measured
    from octavo.measurements.calibrate.node.draft import Draft
    from octavo.measurements.calibrate.samples import Samples

_SERIES = {
    "zero_copy": Series("accesses to pinned host memory", ("operation", "pattern", "width", "warps", "stride")),
}
_MODEL = "bytes / seconds, highest median over warps, at the widest access and the smallest stride of a line or more"
_TRIP = "bytes in flight / (bytes / seconds) at the fewest warps and the widest access (Little's law)"
_THREADS = 32
"""Threads of a warp."""
_TOGETHER = 4
"""Loads of a thread that are in flight together (`TOGETHER` of the probe's kernels)."""
_WIDEST = 16
"""Bytes of the widest access of a thread, by which bandwidths are measured."""
_SHARED_LINE = 128
"""Bytes of a cache line, the most that neighbours can share."""
_PATTERNS = ("sequential", "strided", "random")
_WARP = _THREADS * _WIDEST * _TOGETHER
"""Bytes that a warp of the probe has in flight: threads, bytes of a load, and loads of a thread."""
_LINES = "zero_copy_bandwidth_read_sequential"
_LONE = "zero_copy_bandwidth_read_random"
_ROUND_TRIP = "zero_copy_round_trip_read"
_RATE = pl.col("bytes") / pl.col("seconds")


def _bandwidth(operation: str, pattern: str) -> Value:
    name = f"zero_copy_bandwidth_{operation}_{pattern}"
    about = f"useful bytes a second of {pattern} {operation}s of pinned host memory by a kernel"
    where = {"operation": operation, "pattern": pattern}
    return Value(name, "B/s", "zero_copy", "zero_copy", about, _MODEL, bandwidth, where)


def _warps(operation: str) -> Value:
    about = f"warps, in all, that sequential {operation}s of pinned host memory need for their bandwidth"
    where = {"operation": operation, "pattern": "sequential"}
    name = f"zero_copy_warps_{operation}"
    return Value(name, "1", "zero_copy", "zero_copy", about, saturation.MODEL, warps, where)


def _round_trip() -> Value:
    about = "time from a load of pinned host memory to its answer, with little else on the link"
    where = {"operation": "read", "pattern": "sequential"}
    fit = round_trip
    return Value("zero_copy_round_trip_read", "s", "zero_copy", "zero_copy", about, _TRIP, fit, where)


def bandwidth(table: pl.DataFrame) -> Estimate:
    """Useful bytes a second."""
    rows = _rows(table)
    found = saturation.plateau(rows, "warps", "bytes")
    stride = f", stride {rows['stride'][0]} B" if rows["pattern"][0] == "strided" else ""
    return replace(found, note=f"{rows['width'][0]} bytes a thread{stride}, {found.note}")


def warps(table: pl.DataFrame) -> Estimate:
    """The total number of warps that this bandwidth needs."""
    return saturation.first_saturated(_rows(table), "warps", "bytes")


def round_trip(table: pl.DataFrame) -> Estimate:
    """Seconds from a warp's loads to their answers: for the fewest measured warps, which wait for nothing else.

    Raises:
        Unfit: rows do not state their bytes.

    """
    rows = _rows(table)
    few = rows.filter(pl.col("warps") == pl.col("warps").min())
    warps, width = few["warps"][0], few["width"][0]
    in_flight = warps * _THREADS * width * _TOGETHER
    return spread([in_flight / rate for rate in rates(few, "bytes")], f"{warps} warps, {in_flight} bytes in flight")


def _lines_apart(table: pl.DataFrame) -> pl.DataFrame:
    """Among strided accesses, the smallest stride with one access on each line; others unchanged."""
    lines = table.filter(pl.col("stride") >= _SHARED_LINE)
    return lines.filter(pl.col("stride") == pl.col("stride").min()) if lines.height else table


def _rows(table: pl.DataFrame) -> pl.DataFrame:
    return _lines_apart(at_largest(table, "width"))


def _derive(draft: Draft) -> None:
    """Headers, lines in flight and latency from line accesses to host memory.

    A round trip over the simulated host link is `memory_pipeline + l1_tlb.latency + l1.lookup`, the request
    (`remote.header` bytes), the latency of the link both ways, `host.memory_latency`, the answers (lines, each with a
    header), and `l1.fill`. The time of a round trip and the most lines a second give the number of lines in flight
    (Little's law).
    """
    rate = draft.number(_LINES, "remote.header", "remote.lines_in_flight", "host_link.latency")
    if rate is None:
        return
    link = draft.amount("host_link.bandwidth", "B/s")
    header = max(0, round(LINE * (link / rate - 1)))
    source = f"measured {draft.named(_LINES)}: what a line takes beside its {LINE} bytes on this link"
    draft.put("remote.header", f"{header}B", source)
    if (lone := draft.number(_LONE, "remote.lone_header")) is not None:
        beside = max(header, round(link * _WIDEST / lone) - LINE)
        draft.put("remote.lone_header", f"{beside}B", f"measured {draft.named(_LONE)}, each of {_WIDEST} bytes a line")
    if (trip := draft.number(_ROUND_TRIP, "remote.lines_in_flight", "host_link.latency")) is None:
        return
    in_flight = max(1, round(trip * rate / LINE))
    named = f"{draft.named(_LINES)} times {draft.named(_ROUND_TRIP)}"
    draft.put("remote.lines_in_flight", in_flight, f"measured {named}, in lines of {LINE} bytes")
    one_way = (draft.cycles(trip) - _beside(draft, header, link)) // 2
    if one_way < 0:
        draft.keep("host_link.latency", f"{draft.named(_ROUND_TRIP)} is less than the other parts of a round trip take")
        return
    draft.put_cycles("host_link.latency", one_way, f"measured {draft.named(_ROUND_TRIP)}: half of what is left of it")


def _beside(draft: Draft, header: int, link: float) -> int:
    """Cycles of a warp's round trip that are not the link's latency."""
    fixed = ("compute.memory_pipeline", "l1_tlb.latency", "l1.lookup", "l1.fill", "host.memory_latency")
    answers = _WARP // LINE * (LINE + header)
    return sum(draft.count(key) for key in fixed) + draft.cycles((header + answers) / link)


def _draw(samples: Samples, _measured: Mapping[str, Measured], folder: Path) -> list[Path]:
    """A panel for each operation and pattern; strided accesses by the smallest stride of a line."""
    rows = samples.series("zero_copy")
    operations = rows["operation"].unique(maintain_order=True).to_list()
    titles = [f"{pattern} {operation}s" for operation in operations for pattern in _PATTERNS]
    found = panels(titles, columns=3, share_y=True)
    places = [(operation, pattern) for operation in operations for pattern in _PATTERNS]
    for number, (axes, (operation, pattern)) in enumerate(zip(found.axes, places, strict=True)):
        chosen = rows.filter(operation=operation, pattern=pattern)
        for index, width in enumerate(chosen["width"].unique().sort()):
            of_width = _lines_apart(chosen.filter(width=width))
            name = f"{width} bytes a thread"
            curve(
                axes, points(of_width, "warps", _RATE), "warps", name=name, paint=colour(index), marker="os^"[index % 3]
            )
        scale(axes, "x", "1", "warps, in all" if number >= len(titles) - len(_PATTERNS) else "")
    # All panels share the axis, which is made once they are drawn.
    for axes in found.axes[:: len(_PATTERNS)]:
        scale(axes, "y", "B/s", "useful bandwidth")
    return [found.save(folder / "zero_copy.png", "Kernels that access pinned host memory")]


_VALUES = [
    *(_bandwidth(operation, pattern) for operation in ("read", "write") for pattern in _PATTERNS),
    *map(_warps, ("read", "write")),
    _round_trip(),
]
PROBE = Probe("zero_copy", _SERIES, _VALUES, _draw, {Stage.LINKS: _derive})
