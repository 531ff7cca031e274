"""Faults and moved bytes of single runs: what CUPTI recorded, and what the simulated run did."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.errors import ProfileError, ValidationError, again
from octavo.files.text import read_bytes
from octavo.measurements.activity import PAGE_BYTES, decode, table
from octavo.runs.events import GPU_FAULTS

if TYPE_CHECKING:
    from pathlib import Path

    from octavo.runs.result import RunResult
    from octavo_studies.validate.programs.times import Key

COUNTS = ("faults", "groups", "by_fault", "by_prefetch", "by_user", "cpu_faults", "back")
"""Faults of the GPU, how many groups they were served in; bytes to the GPU by their cause; faults of the host's cores,
and bytes back to the host."""
_MOST_BYTES = 1 << 30
_HOST = 0


def find(folder: Path, key: Key) -> Path | None:
    """The records of the first repetition of a program, if there are some."""
    program, scale, kind = key
    path = folder / f"{program}-{scale:.10g}-{kind}-1.activity.bin"
    return path if path.is_file() else None


def check(folder: Path) -> None:
    """Make sure that there are records.

    Raises:
        ValidationError: there are none.

    """
    if not any(folder.glob("*.activity.bin")):
        raise ValidationError(
            f"{folder} holds no records such as vectoradd-1-managed-1.activity.bin",
            "unpack those of validation/gpu/measured first",
            file=folder,
        )


def recorded(path: Path) -> dict[str, int]:
    """Counts of records.

    Raises:
        ProfileError: the file cannot be read, or holds other records.

    """
    try:
        found = decode(read_bytes(path, "unified-memory records", _MOST_BYTES))
    except OSError as error:
        raise ProfileError(f"cannot read {path}: {error.strerror}", code="unreadable", file=path) from None
    except ProfileError as error:
        raise again(error, ProfileError, f"{path}: {error.message}") from None
    events = table(found)
    faults = events.filter(pl.col("kind").is_in(GPU_FAULTS))
    to_gpu = events.filter(pl.col("bytes").is_not_null(), pl.col("to") != _HOST)
    back = events.filter(pl.col("bytes").is_not_null(), pl.col("to") == _HOST, pl.col("from") != _HOST)
    return {
        "faults": _sum(faults, "faults"),
        "groups": faults.height,
        "by_fault": _sum(to_gpu.filter(pl.col("kind") == "migration"), "bytes"),
        "by_prefetch": _sum(to_gpu.filter(pl.col("kind") == "prefetch"), "bytes"),
        "by_user": _sum(to_gpu.filter(pl.col("kind") == "user_migration"), "bytes"),
        "cpu_faults": events.filter(pl.col("kind") == "cpu_fault").height,
        "back": _sum(back, "bytes"),
    }


def simulated(result: RunResult) -> dict[str, int | None]:
    """The same of a simulated run.

    What is prefetched before the first launch is the program's own wish.
    """
    summary = result.summary
    launch = result.table("kernels")["began_ps"].min()
    moved = (
        result.table("events")
        .filter(pl.col("kind").is_in(("migration", "prefetch")))
        .with_columns(bytes=pl.col("pages") * PAGE_BYTES, asked=pl.col("time_ps") < launch)
    )
    to_gpu, back = moved.filter(pl.col("to") != _HOST), moved.filter(pl.col("to") == _HOST, pl.col("from") != _HOST)
    prefetched = to_gpu.filter(pl.col("kind") == "prefetch")
    return {
        "faults": summary["accesses"]["faults"],
        "groups": summary["batches"],
        "by_fault": _sum(to_gpu.filter(pl.col("kind") == "migration"), "bytes"),
        "by_prefetch": _sum(prefetched.filter(~pl.col("asked")), "bytes"),
        "by_user": _sum(prefetched.filter("asked"), "bytes"),
        "cpu_faults": summary["host"]["faults"],
        "back": _sum(back, "bytes"),
    }


def _sum(rows: pl.DataFrame, column: str) -> int:
    return int(rows[column].sum())
