"""Memory that host and GPU share: managed, or allocated by the system where the platform supports that."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from octavo.measurements.calibrate import patterns, quantities
from octavo.measurements.calibrate.fits import fault_cost, fetches, line, plain, saturation
from octavo.measurements.calibrate.fits.estimate import Estimate, Unfit, spread
from octavo.measurements.calibrate.fits.rows import at_largest
from octavo.measurements.calibrate.panels import colour, curve, fitted, panels, points, scale, whole_numbers
from octavo.measurements.calibrate.probes.probe import Probe, Series, Stage, Value
from octavo.runs import pictures

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from matplotlib.axes import Axes

    from octavo.measurements.calibrate.measurement import Measured
    from octavo.measurements.calibrate.node.draft import Draft
    from octavo.measurements.calibrate.samples import Samples

_SERIES = {
    "first_touch": Series("first touch of fresh memory", ("by", "size")),
    "demand": Series("migration on demand", ("direction", "pattern", "stride", "blocks", "pages", "size")),
    "step": Series("one thread touches one page after another, a row a touch", ("page", "size"), brief=True),
    "step_random": Series("the same, in random order", ("page", "order", "size"), brief=True),
    "prefetch": Series("explicit prefetch", ("direction", "size")),
    "advise": Series("access after a hint", ("hint", "phase", "size")),
    "ping_pong": Series("CPU and GPU write the same pages in turn", ("side", "round", "pages", "size")),
    "duplication": Series("access to read-mostly memory", ("phase", "size")),
}
_KINDS = {"managed": "managed memory", "system": "memory allocated by the system"}
_WAYS = {"to_gpu": "to the GPU", "to_cpu": "to the CPU"}
_SIDES = ("gpu", "cpu")
HINTS = ("none", "read_mostly", "preferred_host", "preferred_gpu", "accessed_by_gpu", "accessed_by_host")
PHASES = ("gpu_read", "gpu_read_again", "cpu_read", "gpu_write", "cpu_write")
DUPLICATION_PHASES = ("gpu_read", "cpu_read", "gpu_read_again", "cpu_write", "gpu_read_after_write")
_DEMAND = "bytes / seconds at the largest size and the smallest stride, highest median over blocks in flight"
_PATTERNS = ("sequential", "strided", "random")
_PING_PONG = "seconds / pages at the largest size, median over rounds but the first, for each repetition"
_TITLES = {"managed": "Managed memory", "system": "Memory allocated by the system"}
_RATE = pl.col("bytes") / pl.col("seconds")
_MANY = 64
"""Faults in flight in the larger groups: fewer than a batch holds."""
_BATCHES = 4
"""Groups that are simulated."""
_KEYS = ("driver.service.batch", "driver.service.block")


def _values(kind: str) -> list[Value]:
    return [
        *(_first_touch(kind, side) for side in _SIDES),
        *(_demand(kind, way, pattern) for way in _WAYS for pattern in _PATTERNS),
        *(_fault(kind, way, part) for way in _WAYS for part in _FAULT_PARTS),
        *(_fetch(kind, number) for number in range(1, len(fetches.GOLDEN) + 1)),
        *_touches(kind),
        *(value for way in _WAYS for value in _prefetch(kind, way)),
        *(_advise(kind, hint, phase) for hint in HINTS for phase in PHASES),
        *(_ping_pong(kind, side) for side in _SIDES),
        *(_duplication(kind, phase) for phase in DUPLICATION_PHASES),
    ]


def _first_touch(kind: str, side: str) -> Value:
    about = f"bytes a second of fresh {_KINDS[kind]} that the {side.upper()} touches first"
    return _at_largest(kind, f"first_touch_bandwidth_{side}", "first_touch", about, {"by": side})


def _demand(kind: str, way: str, pattern: str) -> Value:
    about = f"useful bytes a second of {pattern} accesses to {_KINDS[kind]} that migrates {_WAYS[way]} on demand"
    where = {"direction": way, "pattern": pattern}
    name = f"{kind}_demand_bandwidth_{way}_{pattern}"
    return Value(name, "B/s", kind, "demand", about, _DEMAND, demand_bandwidth, where)


_FAULT_PARTS: dict[str, tuple[str, Callable[..., Estimate]]] = {
    "group": ("what a group of faults takes, whatever it holds", fault_cost.group),
    "page": ("what each faulting page adds to its group, with what the driver fetches for it", fault_cost.page),
}


def _fault(kind: str, way: str, part: str) -> Value:
    words, fit = _FAULT_PARTS[part]
    about = f"{words}, migrating {_WAYS[way]}"
    return Value(f"{kind}_fault_{part}_{way}", "s", kind, "demand", about, fault_cost.MODEL, fit, {"direction": way})


def _fetch(kind: str, number: int) -> Value:
    about = f"what fault number {number} in a fresh block of 2 MiB fetches when its pages are touched in order"
    fit = partial(fetches.fetched, number=number)
    return Value(f"{kind}_fetch_{number}", "B", kind, "step", about, fetches.SIZES, fit)


def _touches(kind: str) -> list[Value]:
    in_order = "faults that fill a block of 2 MiB when its pages are touched in order (the tree of driver 595: 6)"
    random = "faults that fill a block of 2 MiB when its pages are touched at random (the tree of driver 595: about 14)"
    fault = "what the fault of a lone thread takes beside its bytes"
    speed = "bytes a second of what such a fault fetches"
    return [
        Value(f"{kind}_faults_a_block", "1", kind, "step", in_order, fetches.COUNT, fetches.faults_a_block),
        Value(f"{kind}_faults_a_block_random", "1", kind, "step_random", random, fetches.COUNT, fetches.faults_a_block),
        Value(f"{kind}_touch_fault", "s", kind, "step", fault, fetches.COST, fetches.fault),
        Value(f"{kind}_touch_bandwidth", "B/s", kind, "step", speed, fetches.COST, fetches.bandwidth),
    ]


def _prefetch(kind: str, way: str) -> list[Value]:
    where = {"direction": way}
    speed = f"bytes a second of {_KINDS[kind]} prefetched {_WAYS[way]} by a call"
    start = f"what such a call takes whatever its size, {_WAYS[way]}"
    names = (f"{kind}_prefetch_bandwidth_{way}", f"{kind}_prefetch_overhead_{way}")
    return [
        Value(names[0], "B/s", kind, "prefetch", speed, line.TRANSFER, line.bandwidth, where),
        Value(names[1], "s", kind, "prefetch", start, line.TRANSFER, line.overhead, where),
    ]


def _advise(kind: str, hint: str, phase: str) -> Value:
    about = f"bytes a second of phase {phase} on {_KINDS[kind]} with the hint {hint}"
    return _at_largest(kind, f"advise_{hint}_{phase}", "advise", about, {"hint": hint, "phase": phase})


def _ping_pong(kind: str, side: str) -> Value:
    about = f"what the {side.upper()} takes for each page that it takes back from the other side"
    name = f"{kind}_ping_pong_{side}"
    return Value(name, "s", kind, "ping_pong", about, _PING_PONG, page_in_turn, {"side": side})


def _duplication(kind: str, phase: str) -> Value:
    about = f"bytes a second of phase {phase} on {_KINDS[kind]} that is read-mostly"
    return _at_largest(kind, f"duplication_{phase}", "duplication", about, {"phase": phase})


def _at_largest(kind: str, name: str, series: str, about: str, where: dict[str, str | float]) -> Value:
    fit = plain.bandwidth_at_largest_size
    return Value(f"{kind}_{name}", "B/s", kind, series, about, plain.LARGEST_SIZE, fit, where)


def demand_bandwidth(table: pl.DataFrame) -> Estimate:
    """Useful bytes a second."""
    largest = at_largest(table, "size")
    rows = largest.filter(pl.col("stride") == pl.col("stride").min())
    found = saturation.plateau(rows, "blocks", "bytes")
    size, stride = (quantities.short(float(rows[name][0]), "B") for name in ("size", "stride"))
    return replace(found, note=f"size {size}, stride {stride}, {found.note}")


def page_in_turn(table: pl.DataFrame) -> Estimate:
    """Seconds for each page that one side takes back.

    Raises:
        Unfit: only the first round was measured, in which nothing comes back yet.

    """
    rows = at_largest(table, "size").filter(pl.col("round") > 0)
    if rows.is_empty():
        raise Unfit("only the first round was measured, in which nothing comes back yet")
    each = rows.group_by("repetition").agg(value=(pl.col("seconds") / pl.col("pages")).median())
    return spread(each.sort("repetition")["value"].to_list())


def _derive_host(draft: Draft) -> None:
    """The host's first touches, and its faults on pages that lie on a GPU.

    The time of a single fault is measured, including what the prefetcher brings. The simulated node needs part of it
    for messages and copies. That part is simulated with a driver that takes no time; the rest of the measured time is
    the driver's. A fresh block takes `faults_a_block` minor faults, and the rest is allocating and zeroing its pages.
    """
    _derive_first_touch(draft)
    _derive_faults(draft)


def _derive_faults(draft: Draft) -> None:
    """The driver's computation in a single fault: what is left after the time of the simulated node."""
    key = "host.costs.driver_fault"
    group = draft.number("managed_fault_group_to_cpu", key)
    page = draft.number("managed_fault_page_to_cpu", key)
    if group is None or page is None:
        return
    own = patterns.lone_host_fault(patterns.Node(draft.preset, {**draft.changes, key: "0ns"}))
    named = f"{draft.named('managed_fault_group_to_cpu')} and {draft.named('managed_fault_page_to_cpu')}"
    draft.put_rest(key, group + page, own, named)


def _derive_first_touch(draft: Draft) -> None:
    """Allocating and zeroing pages: the time apart from the faults that request them."""
    key = "host.costs.zeroing"
    if (rate := draft.number("managed_first_touch_bandwidth_cpu", key)) is None:
        return
    count = draft.measured["managed_faults_a_block"].value if "managed_faults_a_block" in draft.measured else 1
    left = patterns.LARGE_PAGE / rate - count * draft.amount("host.costs.minor_fault", "s")
    named = draft.named("managed_first_touch_bandwidth_cpu")
    if left <= 0:
        draft.keep(key, f"{named} is faster than the faults of the preset's host")
    else:
        source = f"measured {named}, less {count:.0f} faults for each block of 2 MiB"
        draft.put(key, quantities.text(patterns.LARGE_PAGE / left, "B/s"), source)


def _derive_driver(draft: Draft) -> None:
    """The driver's part of a fault: the cost of a batch, and of each block in it.

    The time of whole groups of faults is measured, not of their parts: `groups x group + pages x page`. The simulated
    node needs part of that for walks, messages, copies and page tables. That part is simulated with a driver that takes
    no time, for groups of one fault and of many. The rest of the measured time is the driver's. Every fault here is in
    a block of its own, and fetches what the driver's prefetcher brings with a lone page. The driver serves the faults
    of one block together, so the cost of a page is used for a block; the cost of further faults in it is not measured.
    """
    group = draft.number("managed_fault_group_to_gpu", *_KEYS)
    page = draft.number("managed_fault_page_to_gpu", *_KEYS)
    if group is None or page is None:
        return
    each_group, each_page = _model_costs(draft)
    for key, name, measured, own in (
        (_KEYS[0], "managed_fault_group_to_gpu", group, each_group),
        (_KEYS[1], "managed_fault_page_to_gpu", page, each_page),
    ):
        draft.put_rest(key, measured, own, draft.named(name))
    draft.put("driver.service.request", "0ns", "within driver.service.block: no probe tells further faults of a block")


def _model_costs(draft: Draft) -> tuple[float, float]:
    """Seconds that the node needs for a group of faults and for each fault in it, apart from the driver."""
    free = dict.fromkeys((*_KEYS, "driver.service.request"), "0ns")
    node = patterns.Node(draft.preset, {**draft.changes, **free})
    alone, many = (
        patterns.demand(node, _BATCHES * blocks * patterns.LARGE_PAGE, patterns.LARGE_PAGE, blocks).run() / _BATCHES
        for blocks in (1, _MANY)
    )
    each = (many - alone) / (_MANY - 1)
    return alone - each, each


def _draw(samples: Samples, measured: Mapping[str, Measured], folder: Path) -> list[Path]:
    """Every picture of the probe for the series that it has."""
    makers = {
        "demand": (_draw_demand, _draw_faults),
        "step": (_draw_steps,),
        "prefetch": (_draw_sizes,),
        "advise": (_draw_hints,),
        "ping_pong": (_draw_ping_pong,),
    }
    there = [make for series, made in makers.items() if samples.series(series).height for make in made]
    drawn = [make(samples, measured, folder) for make in there]
    return [path for path in drawn if path is not None]


def _draw_demand(samples: Samples, _measured: Mapping[str, Measured], folder: Path) -> Path:
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
    return found.save(folder / f"{samples.probe}_demand.png", f"{_TITLES[samples.probe]}: migration on demand")


def _draw_faults(samples: Samples, measured: Mapping[str, Measured], folder: Path) -> Path | None:
    """Time of each page if each has a fault of its own: the more are in flight, the fewer groups there are."""
    found = panels([f"migrating {words}" for words in _WAYS.values()], share_y=True)
    drawn = [_draw_faults_of(axes, samples, measured, way) for axes, way in zip(found.axes, _WAYS, strict=True)]
    if not any(drawn):
        return None
    scale(found.axes[0], "y", "s", "time for each page that faults")
    title = f"{_TITLES[samples.probe]}: a fault for each page (dashed: groups and pages as fitted)"
    return found.save(folder / f"{samples.probe}_faults.png", title)


def _draw_faults_of(axes: Axes, samples: Samples, measured: Mapping[str, Measured], way: str) -> bool:
    try:
        rows = fault_cost.with_groups(samples.series("demand").filter(direction=way))
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


def _draw_steps(samples: Samples, _measured: Mapping[str, Measured], folder: Path) -> Path | None:
    """The touches of one block of 2 MiB, and how much each fault fetched compared with the driver's tree."""
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
    return found.save(folder / f"{samples.probe}_steps.png", f"{_TITLES[samples.probe]}: the driver's prefetcher")


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


def _draw_sizes(samples: Samples, measured: Mapping[str, Measured], folder: Path) -> Path:
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
    title = f"{_TITLES[samples.probe]}: prefetch and first touch (dashed: as fitted)"
    return found.save(folder / f"{samples.probe}_sizes.png", title)


def _draw_hints(samples: Samples, measured: Mapping[str, Measured], folder: Path) -> Path | None:
    """Bandwidth by hint and phase."""
    grid = [[measured.get(f"{samples.probe}_advise_{hint}_{phase}") for phase in PHASES] for hint in HINTS]
    rows = [(hint, line) for hint, line in zip(HINTS, grid, strict=True) if any(line)]
    if not rows:
        return None
    values = [[one.value / 1e9 if one else float("nan") for one in line] for _, line in rows]
    path = folder / f"{samples.probe}_hints.png"
    names = [hint.replace("_", " ") for hint, _ in rows]
    phases = [phase.replace("_", "\n") for phase in PHASES]
    title = f"{_TITLES[samples.probe]}: GB/s after a hint"
    pictures.heat_map(path, values, names, phases, ("hint", "phase, one after another"), title, floor=0.0)
    return path


def _draw_ping_pong(samples: Samples, _measured: Mapping[str, Measured], folder: Path) -> Path:
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
    title = f"{_TITLES[samples.probe]}: CPU and GPU write the same pages in turn"
    return found.save(folder / f"{samples.probe}_ping_pong.png", title)


PROBES = (
    Probe("managed", _SERIES, _values("managed"), _draw, {Stage.HOST: _derive_host, Stage.DRIVER: _derive_driver}),
    Probe("system", _SERIES, _values("system"), _draw),
)
