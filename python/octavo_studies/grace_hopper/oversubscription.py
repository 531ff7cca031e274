"""Programs that need more than a balloon leaves of the GPU's memory: how much slower, and whether prefetch helps.

Explicit programs are strip-mined: what a strip of a launch needs is copied to the GPU before it, what it changed after.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.runs import pictures
from octavo_studies.grace_hopper import phases, systems
from octavo_studies.grace_hopper.described import part
from octavo_studies.grace_hopper.study import CHUNK, KINDS

if TYPE_CHECKING:
    from pathlib import Path

    from octavo_studies.grace_hopper.study import Key, Part, Study

SWEEP = "Computation under oversubscription, over its own time with enough memory"
RESCUE = "Managed memory, oversubscribed, with and without explicit prefetch"
RATIOS = (1.0, 1.1, 1.25, 1.5, 2.0)
FEW_RATIOS = (1.0, 1.25, 2.0)
"""Peak use over what is left free; chosen: the page names no values."""
RESCUE_RATIO = 1.3
"""The ratio published for 34 qubits."""
RESCUED = "managed"
"""The kind of memory that prefetch is tried with."""
SHARED = {
    "hotspot": ("MatrixTemp0", "MatrixTemp1", "MatrixPower"),
    "needle": ("input_itemsets", "reference"),
    "pathfinder": ("gpuResult0", "gpuWall"),
    "quantum-volume": ("amplitudes",),
}
"""Buffers that a program prefetches. Of SRAD five sixths are device memory, which no balloon can push out; BFS has many
small arrays: both are left out."""


@part("oversubscription", programs=SHARED)
def sweep(study: Study) -> Part:
    """Managed and system memory of 4 KiB pages, as published, and explicit copies, with less and less memory."""
    programs = [name for name in study.programs if name in SHARED]
    kinds = [kind for kind in KINDS if kind in study.kinds]
    ratios = FEW_RATIOS if study.fewer else RATIOS
    wanted: dict[Key, tuple[str, ...]] = {
        (program, kind, str(ratio)): (
            *systems.counters(study.coherent, kind, on=False),
            *systems.page(systems.SMALL),
            *systems.left_free(left(study.peak(program), ratio)),
        )
        for program in programs
        for kind in kinds
        for ratio in ratios
    }
    runs = study.run("oversubscription", wanted)
    rows = [
        {"program": key[0], "kind": key[1], "asked": float(key[2])}
        | {"ratio": round(study.peak(key[0]) / left(study.peak(key[0]), float(key[2])), 2)}
        | phases.times(result)
        | phases.moved(result)
        | {"launches": result.table("kernels").height}
        for key, result in runs.results.items()
    ]
    own = pl.col("computation_ps").filter(pl.col("asked") == ratios[0]).first().over("program", "kind")
    points = pl.DataFrame(rows).with_columns((pl.col("computation_ps") / own).alias("slowdown"))
    measures = ("faults", "evicted_pages", "remote_lines", "copied_bytes", "launches")
    shown = points.select("program", "kind", "ratio", "slowdown", *measures)

    def draw(root: Path) -> None:
        for program in programs:
            series = {
                kind: (found["ratio"].to_list(), found["slowdown"].to_list())
                for kind in kinds
                for found in [points.filter(program=program, kind=kind)]
            }
            labels = ("peak use over memory left free", "time of computation")
            pictures.lines(root / f"{program}.png", series, labels, title=f"{program}: {SWEEP.lower()}")

    return runs.part(SWEEP, points, shown, draw)


@part("prefetch", programs=SHARED, kinds=(RESCUED,))
def rescue(study: Study) -> Part:
    """Managed memory that lacks a quarter of its need: no prefetch, one before the first launch, one before each."""
    programs = [name for name in study.programs if name in SHARED]
    page = systems.page(systems.SMALL)
    wanted: dict[Key, tuple[str, ...]] = {}
    for program in programs:
        memory = systems.left_free(left(study.peak(program), RESCUE_RATIO))
        wanted[program, RESCUED, "enough memory"] = page
        wanted[program, RESCUED, "no prefetch"] = (*page, *memory)
        for label, before in (("before the first launch", "first-launch"), ("before each launch", "each-launch")):
            wanted[program, RESCUED, label] = (*page, *memory, *systems.prefetched(SHARED[program], before))
    runs = study.run("prefetch", wanted)
    rows = [
        {"program": key[0], "prefetch": key[2], **phases.times(result), **phases.moved(result)}
        for key, result in runs.results.items()
    ]
    without = pl.col("computation_ps").filter(pl.col("prefetch") == "no prefetch").first().over("program")
    points = pl.DataFrame(rows).with_columns((without / pl.col("computation_ps")).alias("speed"))
    shown = points.select("program", "prefetch", "speed", "faults", "evicted_pages", "migrated_in_bytes")

    def draw(root: Path) -> None:
        wide = points.select("program", "prefetch", "speed").pivot("prefetch", index="program", values="speed")
        pictures.bars(root / "speed.png", wide, xlabel="speed over no prefetch", title=RESCUE, line_at=1.0)

    return runs.part(RESCUE, points, shown, draw)


def left(peak: int, ratio: float) -> int:
    """Memory that is left free: whole chunks, at least two."""
    return max(2, int(peak / ratio / CHUNK)) * CHUNK
