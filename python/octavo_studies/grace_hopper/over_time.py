"""Over time: SRAD iteration by iteration with what crosses the link meanwhile, and memory in use on both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.runs import levels, pictures
from octavo_studies.engine import Found, Row, Runs, series
from octavo_studies.grace_hopper import systems
from octavo_studies.grace_hopper.part import Part, shown
from octavo_studies.grace_hopper.study import WITHOUT_COPIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from octavo.runs.result import RunResult
    from octavo_studies.grace_hopper.study import Key, Study

TITLE = "SRAD, iteration by iteration, access counters on"
PROGRAM = "srad"
FIRST = {"GPU": "gpu", "CPU": "host"}
"""Who writes the image first: the study's table says the GPU; the other is a variant."""
INITIALISE = "initialise"
"""The launch that writes the image, if the GPU does."""
PROGRAMS = ("hotspot", "quantum-volume")
"""Those whose memory in use is published."""
LINE = 64
"""Bytes of a line as the engine counts them."""


MEASURES: Mapping[str, str] = {
    "L1-L2": "l1_l2",
    "HBM": "hbm",
    "LPDDR": "lpddr",
    "CPU to GPU": "to_gpu",
    "GPU to CPU": "to_cpu",
}
"""Levels of traffic, and what measures of them begin with."""


def iterations(result: RunResult) -> list[dict[str, int | None]]:
    """Time and traffic of each pair of launches, with what the host reads before it."""
    kernels = result.table("kernels")
    written = kernels.filter(pl.col("kernel") == INITIALISE)["ended_ps"].to_list()
    launches = kernels.filter(pl.col("kernel") != INITIALISE)
    ends = launches["ended_ps"].to_list()[1::2]
    begins = [*(written or launches["began_ps"].to_list()[:1]), *ends[:-1]]
    traffic = of_launches if "traffic" in result.tables else _of_intervals
    return [
        {"iteration": number + 1, "time_ps": end - begin, **traffic(result, begin, end)}
        for number, (begin, end) in enumerate(zip(begins, ends, strict=True))
    ]


def of_launches(result: RunResult, begin: int, end: int) -> dict[str, int | None]:
    """Bytes by level of the launches between two times, as coherent nodes tell them."""
    table = result.table("traffic").filter((pl.col("began_ps") >= begin) & (pl.col("ended_ps") <= end))
    return {
        f"{name}_bytes": sum(int(table[column].sum()) for column in levels.LEVELS[level])
        for level, name in MEASURES.items()
    }


def _of_intervals(result: RunResult, begin: int, end: int) -> dict[str, int | None]:
    """As near as the intervals of other nodes tell it; they tell neither HBM's nor LPDDR's."""
    within = (pl.col("time_ps") > begin) & (pl.col("time_ps") <= end)
    crossed = result.table("link_intervals").filter(within).group_by("link").agg(pl.col("bytes").sum())
    over = dict(crossed.select("link", "bytes").iter_rows())
    return {
        "l1_l2_bytes": int(result.table("intervals").filter(within)["lines"].sum()) * LINE,
        "hbm_bytes": None,
        "lpddr_bytes": None,
        "to_gpu_bytes": int(over.get("host->gpu0", 0)),
        "to_cpu_bytes": int(over.get("gpu0->host", 0)),
    }


def _points(_study: Study, rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(pl.col("hbm_bytes", "lpddr_bytes").cast(pl.Int64))


def _draw(found: Found, _runs: Runs[Key]) -> None:
    for first in FIRST:
        rows, title = found.points.filter(pl.col("image by") == first), f"SRAD, image written by the {first}: "
        path, how = found.root / f"time-{first.lower()}.png", {"title": f"{title}time of each iteration", "per": 1e6}
        series.lines(path, rows, "kind", "iteration", "time_ps", ("iteration", "µs"), **how)
    for kind in found.points["kind"].unique(maintain_order=True):
        rows = found.points.filter((pl.col("kind") == kind) & (pl.col("image by") == "CPU"))
        traffic = {
            name: (rows["iteration"].to_list(), (rows[f"{column}_bytes"] / (1 << 20)).to_list())
            for name, column in MEASURES.items()
            if rows[f"{column}_bytes"].is_not_null().all()
        }
        title = f"SRAD, {kind}, image written by the CPU: traffic of each iteration"
        pictures.lines(found.root / f"traffic-{kind}.png", traffic, ("iteration", "MiB"), title=title)


srad = Part(
    "srad",
    title=lambda _: TITLE,
    wanted=lambda study: {
        (PROGRAM, kind, first): (
            *study.counters(kind, on=True),
            *systems.page(systems.LARGE),
            f"workload.initialised_by={side}",
            study.interval,
        )
        for first, side in FIRST.items()
        for kind in study.uncopied
    },
    rows=lambda _, results: [
        {"kind": kind, "image by": first, **row}
        for (_, kind, first), result in results.items()
        for row in iterations(result)
    ],
    points=_points,
    tables=shown(
        "kind",
        "image by",
        "iteration",
        pl.col("time_ps").truediv(1e6).alias("time in us"),
        *(pl.col(f"{name}_bytes").truediv(1 << 20).alias(f"{name} in MiB") for name in MEASURES.values()),
    ),
    draw=_draw,
    programs=(PROGRAM,),
    kinds=WITHOUT_COPIES,
)
"""Both kinds without copies, with 64 KiB pages as published, and an image written by the GPU or by the CPU."""


def _most(_study: Study, results: Mapping[Key, RunResult]) -> Iterator[Row]:
    for (program, kind), result in results.items():
        for (processor,), held in result.table("memory_intervals").group_by("processor", maintain_order=True):
            named = {"program": program, "kind": kind, "processor": processor}
            yield {**named, "most_bytes": max(held["bytes"].to_list())}


def _draw_memory(found: Found, runs: Runs[Key]) -> None:
    for (program, kind), result in runs.results.items():
        pictures.memory(found.root / f"{program}-{kind}.png", result, title=f"{program}, {kind}: memory in use")


memory = Part(
    "memory",
    title=lambda _: "Memory in use over time",
    wanted=lambda study: {
        (program, kind): (*study.counters(kind, on=False), study.interval)
        for program in PROGRAMS
        if program in study.programs
        for kind in study.kinds
    },
    rows=_most,
    tables=shown("program", "kind", "processor", pl.col("most_bytes").truediv(1 << 20).alias("most in MiB")),
    draw=_draw_memory,
    programs=PROGRAMS,
)
"""The programs of the published figure under every kind."""
