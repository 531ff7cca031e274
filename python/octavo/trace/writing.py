"""Traces written from frames, arrays or rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import octavo._core as _core
from octavo.trace.chunks import Chunks, allocation_rows, launch_rows
from octavo.trace.engine import call
from octavo.trace.reading import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import polars as pl

    Frame = pl.DataFrame | pl.LazyFrame | Mapping[str, Any]


def write(
    path: str | Path,
    instructions: Frame | Iterable[Frame],
    allocations: Frame | Iterable[Mapping[str, Any]],
    launches: Frame | Iterable[Mapping[str, Any]],
    *,
    lanes: int = 64,
    source: str = "octavo.trace.write",
    command: str = "",
    replace: bool = False,
) -> Trace:
    """Write a trace; the folder appears when everything is written and checked, or not at all.

    Args:
        path: the folder.
        instructions: columns as in `docs/trace-format.md`, as a frame or NumPy arrays by name, sorted for you; or an
            iterator of such pieces, or of single rows as dictionaries, in the order of the trace: memory then depends
            on the largest piece. Columns left out are 0, `sequence` counts rows of each wavefront.
        allocations: `name`, `base`, `bytes`, and `gpu` where the memory of one was asked for.
        launches: `kernel`, `grid` and `group` (three numbers each, or `grid_x`, ...), and what else is known.
        lanes: lanes of a wavefront, 64 or 32.
        source: what recorded it.
        command: the command that recorded it.
        replace: take the place of a trace that is there.

    Raises:
        TraceError: it breaks a rule of the format, or cannot be written.

    Examples:
        >>> rows = {"kind": ["load", "end"], "bytes": [4, 0], "lanes": [64, 0], "lines": [[0, 1, 2, 3], []]}
        >>> launch = {"kernel": "copy", "grid": (64, 1, 1), "group": (64, 1, 1)}
        >>> trace = octavo.trace.write(
        ...     folder / "copy.trace", rows, [{"name": "a", "base": 0, "bytes": 256}], [launch]
        ... )
        >>> trace.info["total"]["load_lines"]
        4

    """
    writer = call(_core.TraceWriter, str(path), lanes, source, command, replace)
    try:
        for chunk in Chunks(instructions):
            call(writer.push, *chunk)
        call(writer.finish, allocation_rows(allocations), launch_rows(launches, lanes))
    finally:
        writer.abandon()
    return Trace(Path(path))
