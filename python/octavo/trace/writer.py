"""Traces written from frames, arrays or rows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import octavo._core as _core
from octavo.trace.actions import action_rows, memory_rows
from octavo.trace.chunks import Chunks, allocation_rows, launch_rows
from octavo.trace.engine import call
from octavo.trace.folder import written
from octavo.trace.reader import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable

    Frame = pl.DataFrame | pl.LazyFrame | Mapping[str, Any]


def write(  # noqa: PLR0913 - one for each part of a trace
    path: str | Path,
    instructions: Frame | Iterable[Frame],
    allocations: Frame | Iterable[Mapping[str, Any]],
    launches: Frame | Iterable[Mapping[str, Any]],
    *,
    actions: Frame | Iterable[Mapping[str, Any]] | None = None,
    lanes: int = 64,
    source: str = "octavo.trace.write",
    command: str = "",
    replace: bool = False,
) -> Trace:
    """Write a trace; the folder appears only when everything is written and checked.

    Args:
        path: the folder.
        instructions: columns as in `docs/trace-format.md`, as a frame or as NumPy arrays by name, in any order. Or an
            iterator of such pieces, or of single rows as dictionaries, in the order of the trace: only the largest
            piece has to fit into memory. Missing columns are 0; `sequence` numbers the rows of each wavefront.
        allocations: `name`, `base`, `bytes`, and `gpu` if the program requested memory of one.
        launches: `kernel`, `grid` and `group` (three numbers each, or `grid_x`, ...), and whatever else is known.
        actions: the whole program around the launches, columns as in `docs/trace-format.md`; allocations then have a
            `kind` and `spread`. The name of an allocation may replace its address, and missing `bytes` mean all of it.
            An action waits for the previous one unless it has `after`. A launch is the next one and may touch all
            allocations, unless it has `launch` and `allocations`. By default only the launches are written.
        lanes: lanes of a wavefront, 64 or 32.
        source: the name of the recorder.
        command: the command that recorded it.
        replace: replace an existing trace.

    Raises:
        TraceError: the trace breaks a rule of the format, or cannot be written.

    Examples:
        >>> rows = {"kind": ["load", "end"], "bytes": [4, 0], "lanes": [64, 0], "lines": [[0, 1, 2, 3], []]}
        >>> launch = {"kernel": "copy", "grid": (64, 1, 1), "group": (64, 1, 1)}
        >>> trace = octavo.trace.write(
        ...     folder / "copy.trace", rows, [{"name": "a", "base": 0, "bytes": 256}], [launch]
        ... )
        >>> trace.info["total"]["load_lines"]
        4
        >>> whole = octavo.trace.write(
        ...     folder / "whole.trace",
        ...     rows,
        ...     [{"name": "a", "base": 0, "bytes": 256, "kind": "managed"}],
        ...     [launch],
        ...     actions=[
        ...         {"kind": "allocate", "address": "a"},
        ...         {"kind": "host", "name": "fill", "sweeps": [{"address": "a", "writes": True}]},
        ...         {"kind": "launch"},
        ...         {"kind": "free", "address": "a"},
        ...     ],
        ... )
        >>> whole.info["program"]["actions"]
        {'allocate': 1, 'free': 1, 'host': 1, 'launch': 1}

    """
    with written(Path(path), replace=replace) as place:
        writer = call(_core.TraceWriter, str(place), lanes, source, command, False)
        try:
            for chunk in Chunks(instructions):
                call(writer.push, *chunk)
            rows = allocations if isinstance(allocations, (pl.DataFrame, pl.LazyFrame, Mapping)) else list(allocations)
            placed = allocation_rows(rows)
            if actions is None:
                call(writer.finish, placed, launch_rows(launches, lanes))
            else:
                listed = action_rows(actions, placed)
                call(writer.finish_program, placed, memory_rows(rows), launch_rows(launches, lanes), listed)
        finally:
            writer.abandon()
    return Trace(Path(path))
