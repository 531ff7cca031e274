"""Programs that need more than a balloon leaves of the GPU's memory: how much slower, whether prefetch helps, by what.

Explicit programs are strip-mined: what a strip of a launch needs is copied to the GPU before it, what it changed after.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.runs import pictures
from octavo_studies.engine import Found, Row, Runs, each, series
from octavo_studies.grace_hopper import phases, systems
from octavo_studies.grace_hopper.part import Part, over, shown
from octavo_studies.grace_hopper.study import CHUNK, KINDS, WITHOUT_COPIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from octavo.runs.result import RunResult
    from octavo_studies.grace_hopper.study import Key, Study

SWEEP = "Computation under oversubscription, over its own time with enough memory"
RESCUE = "Managed memory, oversubscribed, with and without explicit prefetch"
THROUGHPUT = "Quantum volume, oversubscribed: throughput by level"
RATIOS = (1.0, 1.1, 1.25, 1.5, 2.0)
FEW_RATIOS = (1.0, 1.25, 2.0)
"""Peak use over what is left free; chosen: the page names no values."""
RESCUE_RATIO = 1.3
"""The ratio published for 34 qubits."""
RESCUED = "managed"
"""The kind of memory that prefetch is tried with."""
QUANTUM = "quantum-volume"
"""Its state is scaled, and the balloon with it."""
PREFETCHED = "managed, prefetch"
"""Managed memory with `cudaMemPrefetchAsync` of the amplitudes before each gate."""
LEVELS = {
    "L1-L2": ("l1_l2",),
    "HBM": ("hbm_read", "hbm_written"),
    "LPDDR": ("lpddr_read", "lpddr_written"),
    "C2C": ("from_host_line", "from_host_page", "to_host_line", "to_host_page"),
}
"""Columns of the table of traffic by level."""
SHARED = {
    "hotspot": ("MatrixTemp0", "MatrixPower"),
    "needle": ("input_itemsets", "reference"),
    "pathfinder": ("gpuResult0", "gpuWall"),
    QUANTUM: ("amplitudes",),
}
"""Buffers that a program prefetches. Of SRAD five sixths are device memory, which no balloon can push out; BFS has many
small arrays: both are left out."""


def left(peak: int, ratio: float) -> int:
    """Memory that is left free: whole chunks, at least two."""
    return max(2, int(peak / ratio / CHUNK)) * CHUNK


def _ratios(study: Study) -> tuple[float, ...]:
    return FEW_RATIOS if study.fewer else RATIOS


def _rows(study: Study, results: Mapping[Key, RunResult]) -> Iterator[Row]:
    for (program, kind, ratio), result in results.items():
        peak, asked = study.peak(program), float(ratio)
        named = {"program": program, "kind": kind, "asked": asked, "ratio": round(peak / left(peak, asked), 2)}
        launches = result.table("kernels").height
        yield {**named, **phases.times(result), **phases.moved(result), "launches": launches}


def _points(study: Study, rows: pl.DataFrame) -> pl.DataFrame:
    own = pl.col("computation_ps").filter(pl.col("asked") == _ratios(study)[0]).first().over("program", "kind")
    return rows.with_columns((pl.col("computation_ps") / own).alias("slowdown"))


def _draw(found: Found, _runs: Runs[Key]) -> None:
    labels = ("peak use over memory left free", "time of computation")
    for (program,), rows in found.points.group_by("program", maintain_order=True):
        path, title = found.root / f"{program}.png", f"{program}: {SWEEP.lower()}"
        series.lines(path, rows, "kind", "ratio", "slowdown", labels, title=title)


sweep = Part(
    "oversubscription",
    title=lambda _: SWEEP,
    wanted=lambda study: {
        (program, kind, str(ratio)): (
            *study.counters(kind, on=False),
            *systems.page(systems.SMALL),
            *systems.left_free(left(study.peak(program), ratio)),
        )
        for program in study.programs
        if program in SHARED
        for kind in KINDS
        if kind in study.kinds
        for ratio in _ratios(study)
    },
    rows=_rows,
    points=_points,
    tables=shown(
        *("program", "kind", "ratio", "slowdown"),
        *("faults", "evicted_pages", "remote_lines", "copied_bytes", "launches"),
    ),
    draw=_draw,
    programs=tuple(SHARED),
)
"""Managed and system memory of 4 KiB pages, as published, and explicit copies, with less and less memory."""


def _wanted_to_rescue(study: Study) -> dict[Key, tuple[str, ...]]:
    page = systems.page(systems.SMALL)
    wanted: dict[Key, tuple[str, ...]] = {}
    for program in (name for name in study.programs if name in SHARED):
        memory = systems.left_free(left(study.peak(program), RESCUE_RATIO))
        wanted[program, RESCUED, "enough memory"] = page
        wanted[program, RESCUED, "no prefetch"] = (*page, *memory)
        for label, before in (("before the first launch", "first-launch"), ("before each launch", "each-launch")):
            wanted[program, RESCUED, label] = (*page, *memory, *systems.prefetched(SHARED[program], before))
    return wanted


rescue = Part(
    "prefetch",
    title=lambda _: RESCUE,
    wanted=_wanted_to_rescue,
    rows=each(
        lambda key, result: {
            "program": key[0],
            "prefetch": key[2],
            **phases.times(result),
            **phases.moved(result),
        }
    ),
    points=lambda _, rows: rows.with_columns(
        over("computation_ps", pl.col("prefetch") == "no prefetch", "program").alias("speed")
    ),
    tables=shown("program", "prefetch", "speed", "faults", "evicted_pages", "migrated_in_bytes"),
    draw=lambda found, _runs: series.bars(
        found.root / "speed.png",
        found.points,
        *("program", "prefetch", "speed"),
        xlabel="speed over no prefetch",
        title=RESCUE,
        line_at=1.0,
    ),
    programs=tuple(SHARED),
    kinds=(RESCUED,),
)
"""Managed memory that lacks a quarter of its need: no prefetch, one before the first launch, one before each."""


def _wanted_for_throughput(study: Study) -> dict[Key, tuple[str, ...]]:
    memory = systems.left_free(left(study.peak(QUANTUM), RESCUE_RATIO))
    wanted: dict[Key, tuple[str, ...]] = {}
    for kind in study.uncopied:
        wanted[QUANTUM, kind, kind] = (*study.counters(kind, on=False), *systems.page(systems.SMALL), *memory)
        if kind == RESCUED:
            prefetch = systems.prefetched(SHARED[QUANTUM], "each-launch")
            wanted[QUANTUM, kind, PREFETCHED] = (*wanted[QUANTUM, kind, kind], *prefetch)
    return wanted


def rates(result: RunResult) -> Row:
    """Bytes by level over the time of all gates and what is between them; the launch that writes the state is apart."""
    gates = result.table("traffic").slice(1)
    time = int(gates["ended_ps"][-1] - gates["began_ps"][0])
    found = {f"{name}_bytes_per_second": _rate(gates, columns, time) for name, columns in LEVELS.items()}
    return {"launches_ps": time, **found}


def _rate(gates: pl.DataFrame, columns: tuple[str, ...], time: int) -> float:
    return sum(int(gates[f"{column}_bytes"].sum()) for column in columns) / (time / 1e12)


def _draw_throughput(found: Found, _runs: Runs[Key]) -> None:
    wide = found.shown.drop("launches in ms").rename({f"{name} in GB/s": name for name in LEVELS})
    wide = wide.select("memory", *(name for name in LEVELS if wide[name].is_not_null().all()))
    pictures.bars(found.root / "throughput.png", wide, xlabel="GB/s", title=THROUGHPUT)


throughput = Part(
    "throughput",
    title=lambda _: THROUGHPUT,
    wanted=_wanted_for_throughput,
    rows=each(lambda key, result: {"memory": key[2], **rates(result)}),
    tables=shown(
        "memory",
        pl.col("launches_ps").truediv(1e9).alias("launches in ms"),
        *(pl.col(f"{name}_bytes_per_second").truediv(1e9).alias(f"{name} in GB/s") for name in LEVELS),
    ),
    draw=_draw_throughput,
    programs=(QUANTUM,),
    kinds=WITHOUT_COPIES,
    coherent=True,
)
"""Quantum volume in managed memory, with and without prefetch, and in system memory, at the ratio of 34 qubits."""
