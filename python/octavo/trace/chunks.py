"""Frames, arrays and rows as the columns that the engine writes into traces."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from octavo import extras
from octavo.arrays import np
from octavo.errors import TraceError

KINDS = ("load", "store", "atomic", "scalar", "barrier", "wait", "end")
"""Kinds of instructions, in the order of their codes."""

_KEY = ("launch", "group", "wavefront")
_WORDS = ("launch", "group", "sequence", "vector_alu", "scalar_alu", "local_data", "branch")
_HALVES = ("wavefront", "bytes")
_BYTES = ("kind", "lanes")
_WAITS = ("vector_wait", "scalar_wait")
_TOUCHED = ("lines", "addresses")
_LISTS = (*_TOUCHED, "code_lines", "partial")
_ROWS_AT_A_TIME = 1 << 15

Columns = tuple[list[bytes], bytes, bytes, bool, bytes, bytes, "tuple[bytes, bytes] | None"]
"""Columns, then values and ends of lists of lines, and whether these are addresses. The same follows for lines of code,
and for lines that are not filled, if they are known."""


class Chunks:
    """Pieces of a trace as the engine takes them."""

    def __init__(self, instructions: Any) -> None:
        self._pieces = _pieces(instructions)
        self._last: tuple[int, ...] | None = None
        self._next = 0

    def __iter__(self) -> Iterator[Columns]:
        """Give one piece after another."""
        for piece in self._pieces:
            yield self._columns(piece)

    def _columns(self, piece: Any) -> Columns:
        try:
            return _columns(self._numbered(_complete(piece)))
        except (pl.exceptions.PolarsError, ValueError, TypeError, OverflowError) as error:
            raise TraceError(f"instructions: {str(error).splitlines()[0]}") from error

    def _numbered(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Sorted, with positions within wavefronts, which may have begun in the piece before."""
        if "sequence" in frame.columns:
            return frame.sort(*_KEY, "sequence", maintain_order=True)
        frame = frame.sort(*_KEY, maintain_order=True)
        sequence = pl.int_range(pl.len()).over(*_KEY)
        if frame.height and frame.select(_KEY).row(0) == self._last:
            same = pl.all_horizontal(pl.col(name) == value for name, value in zip(_KEY, self._last, strict=True))
            sequence += pl.when(same).then(self._next).otherwise(0)
        frame = frame.with_columns(sequence=sequence.cast(pl.UInt32))
        if frame.height:
            self._last, self._next = frame.select(_KEY).row(-1), int(frame["sequence"][-1]) + 1
        return frame


def _pieces(instructions: Any) -> Iterator[Any]:
    """Frames and arrays as they come; single rows gathered."""
    if isinstance(instructions, (pl.DataFrame, pl.LazyFrame, Mapping)):
        yield instructions
        return
    rows: list[Mapping[str, Any]] = []
    for piece in instructions:
        if isinstance(piece, Mapping) and isinstance(piece.get("kind"), str):
            rows.append(piece)
            if len(rows) < _ROWS_AT_A_TIME:
                continue
            yield _of_rows(rows)
        else:
            if rows:
                yield _of_rows(rows)
            yield piece
        rows = []
    if rows:
        yield _of_rows(rows)


def _of_rows(rows: list[Mapping[str, Any]]) -> dict[str, list[Any]]:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name, [] if name in _LISTS else None) for row in rows] for name in names}


def _complete(piece: Any) -> pl.DataFrame:
    """A frame with every column but perhaps `sequence`, each of its type."""
    frame = piece.collect() if isinstance(piece, pl.LazyFrame) else piece
    if not isinstance(frame, pl.DataFrame):
        columns = dict(frame)
        frame = pl.DataFrame([_series(name, values) for name, values in columns.items()])
    known = {*_WORDS, *_HALVES, *_BYTES, *_WAITS, *_LISTS}
    if unknown := [name for name in frame.columns if name not in known]:
        raise TraceError(
            f"instructions: unknown column `{unknown[0]}`, expected {', '.join(sorted(known))}",
            code="unknown-key",
            key=unknown[0],
            found=unknown[0],
        )
    if "kind" not in frame.columns:
        raise TraceError("instructions: column `kind` is missing", code="missing", key="kind")
    if wrong := set(frame["kind"].cast(pl.String).unique().to_list()) - set(KINDS):
        raise TraceError(
            f"instructions: unknown kind `{min(map(str, wrong))}`, expected one of {', '.join(KINDS)}",
            expected=KINDS,
            code="unknown-name",
            found=min(map(str, wrong)),
        )
    types: dict[str, Any] = {
        **dict.fromkeys(_WORDS, pl.UInt32),
        **dict.fromkeys(_HALVES, pl.UInt16),
        "lanes": pl.UInt8,
        **dict.fromkeys(_WAITS, pl.UInt8),
        **dict.fromkeys(_LISTS, pl.List(pl.UInt64)),
    }
    optional = {"sequence", *_LISTS}
    missing = [
        pl.lit(None if name in _WAITS else 0).alias(name)
        for name in types
        if name not in frame.columns and name not in optional
    ]
    filled = frame.with_columns(missing).with_columns(pl.col("kind").cast(pl.String).cast(pl.Enum(KINDS)))
    numbers = [name for name in types if name in filled.columns]
    filled = filled.with_columns(pl.col(name).cast(types[name]) for name in numbers)
    zeros = [name for name in numbers if name not in {*_WAITS, *_LISTS}]
    return filled.with_columns(pl.col(name).fill_null(0) for name in zeros)


def _series(name: str, values: Any) -> pl.Series:
    if name in _LISTS:
        lists = [np.asarray(() if item is None else item, dtype=np.uint64) for item in values]
        return pl.Series(name, lists, dtype=pl.List(pl.UInt64))
    return pl.Series(name, values)


def _columns(frame: pl.DataFrame) -> Columns:
    columns = [_bytes(frame[name], "<u4") for name in _WORDS]
    columns += [_bytes(frame[name], "<u2") for name in _HALVES]
    columns += [_bytes(frame["kind"].to_physical(), "u1"), _bytes(frame["lanes"], "u1")]
    columns += [_bytes(frame[name].cast(pl.Int16).fill_null(-1), "<i2") for name in _WAITS]
    filled = [name for name in _TOUCHED if name in frame.columns and frame[name].list.len().sum() > 0]
    if len(filled) > 1:
        raise TraceError("instructions: a piece has both `lines` and `addresses`", code="conflict")
    touched = _lists(frame, filled[0] if filled else "lines")
    partial = _lists(frame, "partial") if "partial" in frame.columns else None
    return columns, *touched, filled == ["addresses"], *_lists(frame, "code_lines"), partial


def _lists(frame: pl.DataFrame, name: str) -> tuple[bytes, bytes]:
    """Values of the lists in a column, and where each list ends among them."""
    if name not in frame.columns:
        return b"", bytes(8 * frame.height)
    lengths = frame[name].list.len().fill_null(0).cast(pl.UInt64)
    values = frame[name].filter(lengths > 0).explode()
    return _bytes(values, "<u8"), _bytes(lengths.cum_sum(), "<u8")


def _bytes(series: pl.Series, dtype: str) -> bytes:
    extras.need("numpy")
    return series.to_numpy().astype(dtype, copy=False).tobytes()


def allocation_rows(table: Any) -> list[tuple[str, int, int, int]]:
    """Rows of the table of allocations, by address.

    Raises:
        TraceError: a column is missing.

    """
    rows = [
        (row["name"], int(row["base"]), int(row["bytes"]), int(row.get("gpu") or 0))
        for row in table_rows(table, "allocations")
    ]
    return sorted(rows, key=lambda row: row[1])


def launch_rows(table: Any, lanes: int) -> list[tuple[Any, ...]]:
    """Rows of the table of launches.

    Raises:
        TraceError: a column is missing.

    """
    return [_launch(row, lanes) for row in table_rows(table, "launches")]


def _launch(row: Row, lanes: int) -> tuple[Any, ...]:
    grid, group = _sizes(row, "grid"), _sizes(row, "group")
    split = [(share["gpu"], share["first"], share["groups"]) for share in row.get("split") or []]
    known = ("vector_registers", "scalar_registers", "local_data_bytes", "code_bytes")
    numbers = [int(row.get(name) or 0) for name in known]
    wavefronts = row.get("wavefronts_per_group") or math.ceil(math.prod(group) / lanes)
    flushed = bool(row.get("flushed") or 0)
    return (row["kernel"], grid, group, wavefronts, *numbers, flushed, split)


def _sizes(row: Row, name: str) -> list[int]:
    sizes = row[name] if name in row else [row[f"{name}_{axis}"] for axis in "xyz"]
    return [int(size) for size in sizes] + [1] * (3 - len(sizes))


class Row(dict[str, Any]):
    """A row that says which column it lacks."""

    table = ""

    def __missing__(self, name: str) -> Any:
        raise TraceError(f"{self.table}: column `{name}` is missing", code="missing", file=self.table, key=name)


def table_rows(table: Any, name: str) -> list[Row]:
    """Rows of a frame, of columns by name, or of dictionaries; `name` is what messages call the table."""
    if isinstance(table, pl.LazyFrame):
        table = table.collect()
    if isinstance(table, Mapping):
        table = pl.DataFrame(dict(table), strict=False)
    rows: Iterable[Mapping[str, Any]] = table.to_dicts() if isinstance(table, pl.DataFrame) else table
    found = [Row(row) for row in rows]
    for row in found:
        row.table = name
    return found
