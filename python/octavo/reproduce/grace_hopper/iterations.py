"""SRAD iteration by iteration with access counters on, and what crosses the link meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.reproduce.grace_hopper import systems
from octavo.runs import pictures

if TYPE_CHECKING:
    from pathlib import Path

    from octavo.reproduce.grace_hopper.study import Key, Part, Study
    from octavo.runs.result import RunResult

TITLE = "SRAD, iteration by iteration, access counters on"
PROGRAM = "srad"
FIRST = {"GPU": "gpu", "CPU": "host"}
"""Who writes the image first: the study's table says the GPU; the other is a variant."""
LINE = 64
"""Bytes of a line as the engine counts them."""


def srad(study: Study) -> Part:
    """Both kinds without copies, with 64 KiB pages as published, and an image written by the GPU or by the CPU."""
    kinds = [kind for kind in study.kinds if kind != "explicit"]
    wanted: dict[Key, tuple[str, ...]] = {
        (PROGRAM, kind, first): (
            *systems.counters(study.coherent, kind, on=True),
            *systems.page(systems.LARGE),
            f"workload.initialised_by={side}",
            study.interval,
        )
        for first, side in FIRST.items()
        for kind in kinds
    }
    runs = study.run("srad", wanted)
    rows = [
        {"kind": key[1], "image by": key[2], **row}
        for key, result in runs.results.items()
        for row in _iterations(result)
    ]
    points = pl.DataFrame(rows)
    shown = points.select(
        "kind",
        "image by",
        "iteration",
        pl.col("time_ps").truediv(1e6).alias("time in us"),
        *(pl.col(f"{name}_bytes").truediv(1 << 20).alias(f"{name} in MiB") for name in ("l1_l2", "to_gpu", "to_cpu")),
    )

    def draw(root: Path) -> None:
        for first in FIRST:
            series = {
                kind: (found["iteration"].to_list(), (found["time_ps"] / 1e6).to_list())
                for kind in kinds
                for found in [_of(points, kind, first)]
            }
            title = f"SRAD, image written by the {first}: time of each iteration"
            pictures.lines(root / f"time-{first.lower()}.png", series, ("iteration", "us"), title=title)
        for kind in kinds:
            found = _of(points, kind, "CPU")
            series = {
                name: (found["iteration"].to_list(), (found[f"{column}_bytes"] / (1 << 20)).to_list())
                for name, column in (("L1-L2", "l1_l2"), ("CPU to GPU", "to_gpu"), ("GPU to CPU", "to_cpu"))
            }
            title = f"SRAD, {kind}, image written by the CPU: traffic of each iteration"
            pictures.lines(root / f"traffic-{kind}.png", series, ("iteration", "MiB"), title=title)

    return runs.part(TITLE, points, shown, draw)


def _of(points: pl.DataFrame, kind: str, first: str) -> pl.DataFrame:
    return points.filter((pl.col("kind") == kind) & (pl.col("image by") == first))


def _iterations(result: RunResult) -> list[dict[str, float]]:
    """Time and traffic of each pair of launches, with what the host reads before it."""
    kernels = result.table("kernels")
    launches = kernels.filter(pl.col("kernel") != "initialise")
    ends = launches["ended_ps"].to_list()[1::2]
    before = kernels.filter(pl.col("kernel") == "initialise")["ended_ps"].to_list()
    begins = [*(before or launches["began_ps"].to_list()[:1]), *ends[:-1]]
    intervals, links = result.table("intervals"), result.table("link_intervals")
    rows = []
    for number, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        within = (pl.col("time_ps") > begin) & (pl.col("time_ps") <= end)
        crossed = links.filter(within).group_by("link").agg(pl.col("bytes").sum())
        over = dict(crossed.select("link", "bytes").iter_rows())
        rows.append(
            {
                "iteration": number + 1,
                "time_ps": end - begin,
                "l1_l2_bytes": int(intervals.filter(within)["lines"].sum()) * LINE,
                "to_gpu_bytes": int(over.get("host->gpu0", 0)),
                "to_cpu_bytes": int(over.get("gpu0->host", 0)),
            }
        )
    return rows
