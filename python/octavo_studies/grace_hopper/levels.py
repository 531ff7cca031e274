"""Quantum volume with more amplitudes than memory: bytes a second by level, in each kind and with prefetch.

The publication takes 34 qubits; here the state is scaled, and the balloon with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.runs import pictures
from octavo_studies.grace_hopper import oversubscription, systems
from octavo_studies.grace_hopper.described import part
from octavo_studies.grace_hopper.study import WITHOUT_COPIES

if TYPE_CHECKING:
    from pathlib import Path

    from octavo.runs.result import RunResult
    from octavo_studies.grace_hopper.study import Key, Part, Study

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
        wide = wide.select("memory", *(name for name in LEVELS if wide[name].is_not_null().all()))
        pictures.bars(root / "throughput.png", wide, xlabel="GB/s", title=TITLE)

    return runs.part(TITLE, points, shown, draw)


def _rates(result: RunResult) -> dict[str, float | None]:
    """Bytes by level over the time of all gates and what is between them; the launch that writes the state is apart.

    Results of earlier versions tell nothing of LPDDR.
    """
    gates = result.table("traffic").slice(1)
    time = int(gates["ended_ps"][-1] - gates["began_ps"][0])
    rates = {f"{name}_bytes_per_second": _rate(gates, columns, time) for name, columns in LEVELS.items()}
    return {"launches_ps": time, **rates}


def _rate(gates: pl.DataFrame, columns: tuple[str, ...], time: int) -> float | None:
    names = [f"{column}_bytes" for column in columns]
    if any(name not in gates.columns for name in names):
        return None
    return sum(int(gates[name].sum()) for name in names) / (time / 1e12)
