"""SRAD iteration by iteration with access counters on, and what crosses the link meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.reproduce.grace_hopper import systems
from octavo.reproduce.grace_hopper.described import part
from octavo.reproduce.grace_hopper.study import WITHOUT_COPIES
from octavo.runs import levels, pictures

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from octavo.reproduce.grace_hopper.study import Key, Part, Study
    from octavo.runs.result import RunResult

TITLE = "SRAD, iteration by iteration, access counters on"
PROGRAM = "srad"
FIRST = {"GPU": "gpu", "CPU": "host"}
"""Who writes the image first: the study's table says the GPU; the other is a variant."""
INITIALISE = "initialise"
"""The launch that writes the image, if the GPU does."""
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


@part("srad", programs=(PROGRAM,), kinds=WITHOUT_COPIES)
def srad(study: Study) -> Part:
    """Both kinds without copies, with 64 KiB pages as published, and an image written by the GPU or by the CPU."""
    kinds = [kind for kind in study.kinds if kind in WITHOUT_COPIES]
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
    points = pl.DataFrame(rows, schema_overrides={"hbm_bytes": pl.Int64, "lpddr_bytes": pl.Int64})
    shown = points.select(
        "kind",
        "image by",
        "iteration",
        pl.col("time_ps").truediv(1e6).alias("time in us"),
        *(pl.col(f"{name}_bytes").truediv(1 << 20).alias(f"{name} in MiB") for name in MEASURES.values()),
    )

    def draw(root: Path) -> None:
        for first in FIRST:
            series = {
                kind: (found["iteration"].to_list(), (found["time_ps"] / 1e6).to_list())
                for kind in kinds
                for found in [_of(points, kind, first)]
            }
            title = f"SRAD, image written by the {first}: time of each iteration"
            pictures.lines(root / f"time-{first.lower()}.png", series, ("iteration", "µs"), title=title)
        for kind in kinds:
            found = _of(points, kind, "CPU")
            series = {
                name: (found["iteration"].to_list(), (found[f"{column}_bytes"] / (1 << 20)).to_list())
                for name, column in MEASURES.items()
                if found[f"{column}_bytes"].is_not_null().all()
            }
            title = f"SRAD, {kind}, image written by the CPU: traffic of each iteration"
            pictures.lines(root / f"traffic-{kind}.png", series, ("iteration", "MiB"), title=title)

    return runs.part(TITLE, points, shown, draw)


def _of(points: pl.DataFrame, kind: str, first: str) -> pl.DataFrame:
    return points.filter((pl.col("kind") == kind) & (pl.col("image by") == first))


def _iterations(result: RunResult) -> list[dict[str, int | None]]:
    """Time and traffic of each pair of launches, with what the host reads before it."""
    kernels = result.table("kernels")
    written = kernels.filter(pl.col("kernel") == INITIALISE)["ended_ps"].to_list()
    launches = kernels.filter(pl.col("kernel") != INITIALISE)
    ends = launches["ended_ps"].to_list()[1::2]
    begins = [*(written or launches["began_ps"].to_list()[:1]), *ends[:-1]]
    traffic = _of_launches if "traffic" in result.tables else _of_intervals
    return [
        {"iteration": number + 1, "time_ps": end - begin, **traffic(result, begin, end)}
        for number, (begin, end) in enumerate(zip(begins, ends, strict=True))
    ]


def _of_launches(result: RunResult, begin: int, end: int) -> dict[str, int | None]:
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
