"""Recorded traces: opened, looked at, written. `docs/trace-format.md` says what they hold.

Examples:
    >>> trace = octavo.trace.open("traces/fir-16384.trace")
    >>> trace.info["total"]["load_lines"] > 0
    True

"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo import _core
from octavo.errors import InterruptedRun, TraceError
from octavo.trace_chunks import Chunks, allocation_rows, launch_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Frame = pl.DataFrame | pl.LazyFrame | Mapping[str, Any]


@dataclass(frozen=True)
class Trace:
    """A recorded program in a folder; instructions are read when asked for."""

    path: Path

    @cached_property
    def info(self) -> dict[str, Any]:
        """Counts by kernel and in total: instructions, lines, footprint, bytes; reads the whole trace.

        Raises:
            TraceError: it cannot be read.

        """
        info: dict[str, Any] = json.loads(_call(_core.trace_info, str(self.path)))
        return info

    @property
    def instructions(self) -> pl.LazyFrame:
        """One row for each instruction, lazily: filter before you collect."""
        return pl.scan_parquet(self.path / "instructions.parquet")

    @property
    def allocations(self) -> pl.DataFrame:
        """One row for each allocation: name, base, bytes."""
        return pl.read_parquet(self.path / "allocations.parquet")

    @property
    def launches(self) -> pl.DataFrame:
        """One row for each kernel launch."""
        return pl.read_parquet(self.path / "launches.parquet")

    def head(
        self, count: int = 10, *, launch: int | None = None, group: int | None = None, wavefront: int | None = None
    ) -> list[dict[str, Any]]:
        """Return the first rows that match, as dictionaries.

        Raises:
            TraceError: what is looked at cannot be read.

        """
        rows = _call(_core.trace_head, str(self.path), count, launch, group, wavefront)
        found: list[dict[str, Any]] = json.loads(rows)
        return found

    def validate(self) -> int:
        """Check every rule of the format; returns how many rows there are.

        Raises:
            TraceError: a rule is broken; the message names file, row and reason.

        """
        return int(_call(_core.trace_validate, str(self.path)))


def open(path: str | Path) -> Trace:  # noqa: A001 - meant to be called as octavo.trace.open
    """Open a trace folder.

    Raises:
        TraceError: there is none, or it is damaged, or of a version that this Octavo does not know.

    """
    trace = Trace(Path(path))
    trace.head(0)
    return trace


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
    writer = _call(_core.TraceWriter, str(path), lanes, source, command, replace)
    try:
        for chunk in Chunks(instructions):
            _call(writer.push, *chunk)
        _call(writer.finish, allocation_rows(allocations), launch_rows(launches, lanes))
    finally:
        writer.abandon()
    return Trace(Path(path))


def formats() -> list[dict[str, str]]:
    """Foreign formats that `convert` reads: name, summary, source."""
    return [dict(zip(("name", "summary", "source"), one, strict=True)) for one in _core.trace_formats()]


def convert(
    source: str | Path,
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - what it is called everywhere
    replace: bool = False,
    watch: Callable[[float, int], bool] | None = None,
) -> dict[str, Any]:
    """Convert a foreign trace; the folder `path` appears when everything is written and checked, or not at all.

    Args:
        source: file or folder of the foreign trace.
        path: the folder to write.
        format: name of the format; told from the input if left out.
        replace: take the place of a trace that is there.
        watch: called about twenty times a second with the share that is done and the rows written; stops the
            conversion by returning false.

    Returns: `format`, `launches`, `rows`, `allocations`, `instructions`, and `notes`: what was lost or
        guessed, and how often.

    Raises:
        TraceError: the input is not what its format says (file, line and reason), or the trace cannot be written.

    """
    done: dict[str, Any] = json.loads(_call(_core.trace_convert, str(source), str(path), format, replace, watch))
    return done


def _call(function: Any, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except _core.TraceError as error:
        raise TraceError(error.args[0]) from None
    except _core.Interrupted as error:
        raise InterruptedRun(error.args[0]) from None
    except (OverflowError, TypeError) as error:
        raise TraceError(f"a value does not fit its column: {error}") from None
