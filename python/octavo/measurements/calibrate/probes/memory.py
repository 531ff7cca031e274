"""Device memory, its caches and its translation."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from octavo.measurements.calibrate import quantities
from octavo.measurements.calibrate.fits import hierarchy, levels, line_size, plain, reach
from octavo.measurements.calibrate.node import shapes
from octavo.measurements.calibrate.node.draft import LINE
from octavo.measurements.calibrate.panels import colour, curve, mark, panels, points, scale
from octavo.measurements.calibrate.patterns import LARGE_PAGE
from octavo.measurements.calibrate.probes.probe import Probe, Series, Stage, Value

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from matplotlib.axes import Axes

    from octavo.measurements.calibrate.measurement import Measured
    from octavo.measurements.calibrate.node.draft import Draft
    from octavo.measurements.calibrate.samples import Samples

_SERIES = {
    "stream": Series("STREAM kernels", ("operation", "size")),
    "chase": Series("one thread's dependent loads", ("footprint", "stride")),
    "random_lines": Series("loads of random lines", ("footprint", "width", "line")),
}
_SPARSE = 4096
"""The stride in bytes above which a curve shows translation rather than caches."""
_LATENCY = pl.col("seconds") / pl.col("count")
_RATE = pl.col("bytes") / pl.col("seconds")
_LINES = (32, 64, 128)
_CAPACITY = f"end of the plateau; {levels.MODEL}"


def _stream(operation: str) -> Value:
    about = f"STREAM {operation}: bytes read and written a second"
    where = {"operation": operation}
    name = f"stream_bandwidth_{operation}"
    return Value(name, "B/s", "memory", "stream", about, plain.LARGEST_SIZE, plain.bandwidth_at_largest_size, where)


def _latency(level: hierarchy.Level, words: str) -> Value:
    about = f"latency of a load that {words} answers"
    fit = partial(hierarchy.latency, level=level)
    return Value(f"{level}_latency", "s", "memory", "chase", about, levels.MODEL, fit, told="l2_bytes")


def _capacity(level: hierarchy.Cache) -> Value:
    about = f"largest footprint measured that the {level.upper()} cache holds"
    fit = partial(hierarchy.capacity, level=level)
    return Value(f"{level}_capacity", "B", "memory", "chase", about, _CAPACITY, fit, told="l2_bytes")


def _random(line: int) -> Value:
    about = f"useful bytes a second of loads of {line} bytes at random addresses"
    name = f"random_line_bandwidth_{line}"
    where = {"line": line}
    return Value(name, "B/s", "memory", "random_lines", about, plain.WIDEST, plain.bandwidth_of_widest, where)


_WITHIN = "useful bytes a second of loads of 128 bytes at random addresses that the L2 cache holds"
_REACH = "largest footprint measured that the TLB translates"
_MISS = "what a TLB miss adds to a load"
_PAGE = "memory that an entry of the TLB covers"
_BROUGHT = "memory that a miss of every cache brings"


def _derive(draft: Draft) -> None:
    """Caches, TLBs and device memory.

    The path of a load, as the simulated node adds it up (docs/model.md):

    - a hit in the L1 cache takes `memory_pipeline + l1_tlb.latency + l1.latency`;
    - a hit in the L2 cache takes `memory_pipeline + l1_tlb.latency + l1.lookup + crossbar + a cycle of the bank's input
      + l2.latency + crossbar + l1.fill`;
    - memory adds `dram.latency` and the time of a line that comes alone, `dram.line_cycles × dram.lone_line_percent`.

    Only these sums are measured, so the last part of each path is adjusted, and the rest stays as in the preset.
    """
    for step in (_derive_bandwidth, _derive_second, _derive_latencies, _derive_capacities, _derive_translation):
        step(draft)


def _derive_bandwidth(draft: Draft) -> None:
    """All banks together transfer one line each in `line_cycles`."""
    names = [name for name in ("stream_bandwidth_triad", "stream_bandwidth_copy") if name in draft.measured]
    name = names[0] if names else "stream_bandwidth_triad"
    if (rate := draft.number(name, "dram.banks", "dram.line_cycles")) is None:
        return
    banks, cycles = shapes.banks(rate * draft.cycle / LINE)
    found = quantities.text(banks * LINE / (cycles * draft.cycle), "B/s")
    source = f"measured {draft.named(name)}: {banks} lines of {LINE} bytes in {cycles} cycles are {found}"
    draft.put("dram.banks", banks, source)
    draft.put_cycles("dram.line_cycles", cycles, "see dram.banks")
    _derive_lone_lines(draft)


def _derive_second(draft: Draft) -> None:
    """All banks together take so many lines a cycle."""
    if (rate := draft.number("l2_bandwidth", "l2.banks")) is None:
        return
    banks = max(1, round(rate * draft.cycle / (LINE * draft.count("l2.lines_per_cycle"))))
    draft.put("l2.banks", banks, f"measured {draft.named('l2_bandwidth')}: lines of {LINE} bytes a cycle")


def _derive_lone_lines(draft: Draft) -> None:
    """Random lines of 64 bytes compared with lines of 128: the time of half a line alone."""
    halves, wholes = (draft.number(f"random_line_bandwidth_{line}", "dram.lone_line_percent") for line in (64, 128))
    if halves is None or wholes is None:
        return
    named = " and ".join(draft.named(f"random_line_bandwidth_{line}") for line in (64, 128))
    percent = min(max(round(100 * wholes / halves), 100), 200)
    draft.put("dram.lone_line_percent", percent, f"measured {named}")


def _derive_latencies(draft: Draft) -> None:
    """From the nearest level to the furthest, each minus the levels before it."""
    before = draft.count("compute.memory_pipeline") + draft.count("l1_tlb.latency")
    _first(draft, before)
    second = _second(draft, before)
    _memory(draft, second)


def _first(draft: Draft, before: int) -> None:
    if (seconds := draft.number("l1_latency", "l1.latency")) is None:
        return
    source = f"measured {draft.named('l1_latency')}, less memory_pipeline and l1_tlb.latency"
    draft.put_cycles("l1.latency", max(1, draft.cycles(seconds) - before), source)


def _second(draft: Draft, before: int) -> int:
    """Cycles of a load that the L2 cache serves."""
    outside = before + draft.count("l1.lookup") + draft.count("l1.fill") + 1
    seconds = draft.number("l2_latency", "l2.crossbar", "l2.latency")
    if seconds is not None:
        left = draft.cycles(seconds) - outside
        crossbar = (left - draft.count("l2.latency")) // 2
        if crossbar < 0:
            draft.keep("l2.crossbar", f"{draft.named('l2_latency')} is less than the preset's bank takes")
        else:
            named = draft.named("l2_latency")
            source = f"measured {named}: half of what is left beside l2.latency and the first level's part"
            draft.put_cycles("l2.crossbar", crossbar, source)
            draft.put_cycles("l2.latency", left - 2 * crossbar, "the preset's, and the odd cycle")
    return outside + 2 * draft.count("l2.crossbar") + draft.count("l2.latency")


def _memory(draft: Draft, second: int) -> None:
    if (seconds := draft.number("memory_latency", "dram.latency")) is None:
        return
    alone = round(draft.count("dram.line_cycles") * draft.count("dram.lone_line_percent") / 100)
    left = draft.cycles(seconds) - second - alone
    if left < 0:
        draft.keep("dram.latency", f"{draft.named('memory_latency')} is less than the second level takes")
        return
    source = f"measured {draft.named('memory_latency')}, less the second level's and what a line takes alone"
    draft.put_cycles("dram.latency", left, source)


def _derive_capacities(draft: Draft) -> None:
    """The first level has the size that the chase found; of the second, one multiprocessor's chase sees a part."""
    for level in ("l1", "l2"):
        size = draft.number(f"{level}_capacity", f"{level}.size")
        source = "" if size is None else f"measured {draft.named(f'{level}_capacity')}"
        if level == "l2" and (whole := draft.described("l2_bytes")) is not None:
            size, source = whole, "the driver's l2_bytes"
            draft.kept.pop("l2.size", None)
        if size is None:
            continue
        lines, ways = shapes.nearest(size / LINE, draft.count(f"{level}.ways"))
        draft.put(f"{level}.size", f"{lines * LINE}B", f"{source}; the nearest with a power of two of sets")
        draft.put(f"{level}.ways", ways, f"see {level}.size")
    if (total := draft.described("memory_bytes", "capacity.bytes")) is not None:
        draft.put("capacity.bytes", f"{total}B", "the driver's memory_bytes")


def _derive_translation(draft: Draft) -> None:
    """Entries of the L2 TLB, and the time of a walk. With a page-walk cache a walk mostly reads one level."""
    reach = draft.number("tlb_reach", "l2_tlb.large.entries")
    page = draft.number("tlb_page_size", "l2_tlb.large.entries")
    if reach is not None and page is not None:
        key = "l2_tlb.large" if page >= LARGE_PAGE else "l2_tlb"
        entries, ways = shapes.nearest(reach / page, draft.count(f"{key}.ways"))
        source = f"measured {draft.named('tlb_reach')}, {draft.named('tlb_page_size')}; a power of two of sets"
        draft.put(f"{key}.entries", entries, source)
        draft.put(f"{key}.ways", ways, f"see {key}.entries")
    if (miss := draft.number("tlb_miss_latency", "walker.level")) is not None:
        source = f"measured {draft.named('tlb_miss_latency')}: one level, the others being cached"
        draft.put_cycles("walker.level", draft.cycles(miss), source)


def _draw(samples: Samples, measured: Mapping[str, Measured], folder: Path) -> list[Path]:
    """Chase and bandwidths."""
    return [_draw_chase(samples, measured, folder), _rates(samples, folder)]


def _draw_chase(samples: Samples, measured: Mapping[str, Measured], folder: Path) -> Path:
    rows = samples.series("chase")
    found = panels(["caches: strides below a page", "translation: strides of a page and more"], share_y=True)
    dense, sparse = found.axes
    _curves(dense, rows.filter(pl.col("stride") < _SPARSE))
    _curves(sparse, rows.filter(pl.col("stride") >= _SPARSE))
    scale(dense, "y", "s", "latency of a load")
    for level, words in (("l1", "L1"), ("l2", "L2"), ("memory", "memory")):
        if one := measured.get(f"{level}_latency"):
            mark(dense, "y", one.value, f"{words} {quantities.short(one.value, 's')}")
        if size := measured.get(f"{level}_capacity"):
            mark(dense, "x", size.value, f"{words} {quantities.short(size.value, 'B')}")
    if reach := measured.get("tlb_reach"):
        mark(sparse, "x", reach.value, f"TLB {quantities.short(reach.value, 'B')}")
    return found.save(folder / "chase.png", "Dependent loads of one thread (dotted: what was found)")


def _curves(axes: Axes, rows: pl.DataFrame) -> None:
    """A curve for each stride, from light to dark as they grow."""
    from matplotlib import colormaps  # noqa: PLC0415 - importing matplotlib takes longer than most commands
    from matplotlib.colors import to_hex  # noqa: PLC0415 - as above

    strides = rows["stride"].unique().sort().to_list()
    for index, stride in enumerate(strides):
        paint = to_hex(colormaps["viridis_r"](0.15 + 0.85 * index / max(1, len(strides) - 1)))
        found = points(rows.filter(pl.col("stride") == stride), "footprint", _LATENCY)
        name = f"stride {quantities.short(float(stride), 'B')}"
        curve(axes, found, "footprint", name=name, paint=paint, marker="os^vD<>pPX"[index % 10])
    scale(axes, "x", "B", "footprint")


def _rates(samples: Samples, folder: Path) -> Path:
    found = panels(["STREAM", "random lines, widest load"])
    stream, lines = found.axes
    rows = samples.series("stream")
    for index, operation in enumerate(rows["operation"].unique(maintain_order=True)):
        curve(
            stream, points(rows.filter(operation=operation), "size", _RATE), "size", name=operation, paint=colour(index)
        )
    scale(stream, "x", "B", "size of an array")
    rows = samples.series("random_lines")
    widest = rows.filter(pl.col("width") == pl.col("width").max())
    for index, line in enumerate(widest["line"].unique().sort()):
        chosen = points(widest.filter(line=line), "footprint", _RATE)
        curve(lines, chosen, "footprint", name=f"{line} bytes of each line", paint=colour(4 + index))
    scale(lines, "x", "B", "footprint")
    for axes in found.axes:
        scale(axes, "y", "B/s", "bandwidth, useful bytes")
    return found.save(folder / "memory.png", "Device memory")


_VALUES = [
    *map(_stream, ("copy", "scale", "add", "triad")),
    _latency("l1", "the L1 cache"),
    _latency("l2", "the L2 cache"),
    _latency("memory", "device memory"),
    _capacity("l1"),
    _capacity("l2"),
    Value("tlb_reach", "B", "memory", "chase", _REACH, reach.MODEL, reach.reach),
    Value("tlb_miss_latency", "s", "memory", "chase", _MISS, reach.MODEL, reach.miss),
    Value("tlb_page_size", "B", "memory", "chase", _PAGE, reach.PAGE_MODEL, reach.page),
    Value("line_size", "B", "memory", "chase", _BROUGHT, line_size.MODEL, line_size.line_size),
    *map(_random, _LINES),
    Value(
        "l2_bandwidth",
        "B/s",
        "memory",
        "random_lines",
        _WITHIN,
        plain.WITHIN,
        plain.bandwidth_within,
        {"line": 128},
        told="l2_bytes",
    ),
]
PROBE = Probe("memory", _SERIES, _VALUES, _draw, {Stage.MEMORY: _derive})
