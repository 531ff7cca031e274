"""Quantum volume with more amplitudes than memory: bytes a second by level, in each kind and with prefetch.

The publication takes 34 qubits; here the state is scaled, and the balloon with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.reproduce.grace_hopper import oversubscription, systems
from octavo.reproduce.grace_hopper.described import part
from octavo.reproduce.grace_hopper.study import WITHOUT_COPIES
from octavo.runs import pictures

if TYPE_CHECKING:
    from pathlib import Path

    from octavo.reproduce.grace_hopper.study import Key, Part, Study
    from octavo.runs.result import RunResult

TITLE = "Quantum volume, oversubscribed: throughput by level"
PROGRAM = "quantum-volume"
PREFETCHED = "managed, prefetch"
"""Managed memory with `cudaMemPrefetchAsync` of the amplitudes before each gate."""
LEVELS = {
    "L1-L2": ("l1_l2",),
    "HBM": ("hbm_read", "hbm_written"),
    "LPDDR": ("lpddr_read", "lpddr_written"),
    "C2C": ("from_host_line", "from_host_page", "to_host_line", "to_host_page"),
}
"""Columns of the table of traffic by level."""


@part("throughput", programs=(PROGRAM,), kinds=WITHOUT_COPIES, coherent=True)
def throughput(study: Study) -> Part:
    """Managed memory, with and without prefetch, and system memory, at the ratio of 34 qubits."""
    memory = systems.left_free(oversubscription.left(study.peak(PROGRAM), oversubscription.RESCUE_RATIO))
    prefetch = systems.prefetched(oversubscription.SHARED[PROGRAM], "each-launch")
    wanted: dict[Key, tuple[str, ...]] = {}
    for kind in (kind for kind in study.kinds if kind in WITHOUT_COPIES):
        common = (*systems.counters(study.coherent, kind, on=False), *systems.page(systems.SMALL), *memory)
        wanted[PROGRAM, kind, kind] = common
        if kind == oversubscription.RESCUED:
            wanted[PROGRAM, kind, PREFETCHED] = (*common, *prefetch)
    runs = study.run("throughput", wanted)
    rows = [{"memory": key[2], **_rates(result)} for key, result in runs.results.items()]
    points = pl.DataFrame(rows, infer_schema_length=None)
    shown = points.select(
        "memory",
        pl.col("launches_ps").truediv(1e9).alias("launches in ms"),
        *(pl.col(f"{name}_bytes_per_second").truediv(1e9).alias(f"{name} in GB/s") for name in LEVELS),
    )

    def draw(root: Path) -> None:
        wide = shown.drop("launches in ms").rename({f"{name} in GB/s": name for name in LEVELS})
        pictures.bars(root / "throughput.png", wide, xlabel="GB/s", title=TITLE)

    return runs.part(TITLE, points, shown, draw)


def _rates(result: RunResult) -> dict[str, float]:
    """Bytes by level over the time of all gates and what is between them; the launch that writes the state is apart."""
    gates = result.table("traffic").slice(1)
    time = int(gates["ended_ps"][-1] - gates["began_ps"][0])
    rates = {f"{name}_bytes_per_second": _rate(gates, columns, time) for name, columns in LEVELS.items()}
    return {"launches_ps": time, **rates}


def _rate(gates: pl.DataFrame, columns: tuple[str, ...], time: int) -> float:
    return sum(int(gates[f"{column}_bytes"].sum()) for column in columns) / (time / 1e12)
