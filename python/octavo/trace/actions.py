"""Actions of a whole program as the rows that the engine writes into traces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.errors import TraceError
from octavo.trace.chunks import Row, table_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NOBODY = 255
"""The processor of advice that prefers none."""
_LINE = 64

_COLUMNS = (
    *("kind", "after", "address", "bytes", "source", "processor", "accessed_by", "read_mostly"),
    *("launch", "allocations", "name", "threads", "sweeps", "action"),
)
_SWEEP = ("address", "bytes", "writes", "width", "stride", "thread")


def memory_rows(table: Any) -> list[tuple[str, str]]:
    """Kind and spread of each allocation, by address: managed and interleaved where nothing is said."""
    rows = sorted(table_rows(table, "allocations"), key=lambda row: int(row["base"]))
    return [(str(row.get("kind") or "managed"), str(row.get("spread") or "interleaved")) for row in rows]


def action_rows(table: Any, allocations: Sequence[tuple[str, int, int, int]]) -> list[tuple[Any, ...]]:
    """Rows of the table of actions, over allocations in address order.

    Raises:
        TraceError: a column is missing or unknown, or there is no such allocation.

    """
    places = {name: (base, size, row) for row, (name, base, size, _) in enumerate(allocations)}
    rows = table_rows(table, "actions")
    launches = 0
    made = []
    for number, row in enumerate(rows):
        made.append(_Action(row, places, number).row(launches))
        launches += row["kind"] == "launch"
    return made


def _expect_known(what: str, given: Mapping[str, Any], known: Sequence[str], number: int) -> None:
    """Refuse a name of row `number` that is none of `known`."""
    for name in given:
        if name not in known:
            raise TraceError(
                f"actions, row {number}: unknown {what} `{name}`, expected {', '.join(known)}",
                key=name,
                expected=known,
                found=name,
                code="unknown-key",
                line=number,
            )


class _Action:
    """An action as a user wrote it: places may be names of allocations."""

    def __init__(self, row: Row, places: Mapping[str, tuple[int, int, int]], number: int) -> None:
        _expect_known("column", row, _COLUMNS, number)
        self.given, self.places, self.number = row, places, number

    def row(self, launches: int) -> tuple[Any, ...]:
        """What the engine takes; the launch after `launches` others unless another is named."""
        kind, launch = str(self.given["kind"]), self.given["kind"] == "launch"
        after = self.given.get("after")
        previous = [self.number - 1] if self.number else []
        nobody = NOBODY if kind == "advise" else 0
        accessed_by = sorted(int(one) for one in self.given.get("accessed_by") or [])
        return (
            kind,
            previous if after is None else [int(one) for one in after],
            self._address(self.given, "address"),
            self._bytes(self.given),
            self._address(self.given, "source"),
            (self._number("processor", nobody), accessed_by, bool(self.given.get("read_mostly") or False)),
            self._number("launch", launches if launch else 0),
            self._allocations() if launch else [],
            str(self.given.get("name") or ""),
            self._number("threads", 1 if kind == "host" else 0),
            [self._sweep(sweep) for sweep in self.given.get("sweeps") or []],
        )

    def _number(self, column: str, otherwise: int) -> int:
        value = self.given.get(column)
        return otherwise if value is None else int(value)

    def _place(self, name: str) -> tuple[int, int, int]:
        if name not in self.places:
            known = ", ".join(self.places)
            raise TraceError(
                f"actions, row {self.number}: no allocation `{name}`, expected one of {known}",
                expected=known,
                found=name,
                code="unknown-name",
                line=self.number,
            )
        return self.places[name]

    def _address(self, of: Mapping[str, Any], column: str) -> int:
        value = of.get(column) or 0
        return self._place(value)[0] if isinstance(value, str) else int(value)

    def _bytes(self, of: Mapping[str, Any]) -> int:
        if of.get("bytes") is not None:
            return int(of["bytes"])
        named = [of[column] for column in ("address", "source") if isinstance(of.get(column), str)]
        return min((self._place(name)[1] for name in named), default=0)

    def _allocations(self) -> list[int]:
        """Rows of what a launch may touch; all of them where nothing is said."""
        named = self.given.get("allocations")
        if named is None:
            return list(range(len(self.places)))
        return [self._place(one)[2] if isinstance(one, str) else int(one) for one in named]

    def _sweep(self, sweep: Mapping[str, Any]) -> tuple[Any, ...]:
        _expect_known("field of a sweep", sweep, _SWEEP, self.number)
        width = int(sweep.get("width") or _LINE)
        stride = int(sweep.get("stride") or width)
        writes, thread = bool(sweep.get("writes") or False), int(sweep.get("thread") or 0)
        return (self._address(sweep, "address"), self._bytes(sweep), writes, width, stride, thread)
