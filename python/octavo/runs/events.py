"""Kinds of rows in `events` tables: those of simulated runs, and those that only profiles of real programs have.

This is the only place that names kinds. The engine's own come from the engine; `octavo.report` and its page, and
`octavo.measurements.activity`, take theirs from here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import octavo._core as _core
from octavo.errors import OutputError

if TYPE_CHECKING:
    import polars as pl

SIMULATED = tuple(_core.event_kinds())
"""Kinds that simulated runs record, as the engine numbers them."""
PROFILED = (
    "atomic_fault",
    "prefetch_fault",
    "unknown_fault",
    "cpu_fault",
    "user_migration",
    "counter_migration",
    "thrashing",
    "throttling",
)
"""Kinds that only profiles of real programs have."""
KINDS = (*SIMULATED, *PROFILED)
"""Every kind, by code."""

GPU_FAULTS = ("read_fault", "write_fault", "atomic_fault", "prefetch_fault", "unknown_fault")
"""Kinds in which the driver sees a GPU's fault."""
WRITES = ("write_fault", "atomic_fault")
"""The kinds that ask for write permission."""
GPU_REQUESTS = (*GPU_FAULTS, "counter")
"""Kinds of events in which a GPU requests a page from the driver."""
REQUESTS = (*GPU_REQUESTS, "cpu_fault")
"""Kinds in which any processor does."""
TRANSFERS = ("migration", "write_collapse", "eviction", "prefetch", "user_migration", "counter_migration")
"""Kinds in which bytes move and the source releases its frame."""
MOVES = (*TRANSFERS, "placed")
"""Kinds in which a copy changes its holder; the source releases its frame."""
COPIES = (*TRANSFERS, "duplication")
"""Kinds in which bytes move."""
SCHEMES = ("scheme_on_touch", "scheme_access_counter", "scheme_duplication")
"""Kinds in which the scheme of a page changes, in the order of the schemes."""


def code(name: str) -> int:
    """The number of a kind, as tables contain it."""
    return KINDS.index(name)


_COLUMNS = ("time_ps", "kind", "address", "pages", "from", "to")


def check(table: pl.DataFrame) -> None:
    """Make sure that an `events` table has its columns and known kinds.

    Raises:
        OutputError: it lacks a column, or has another kind.

    """
    lacking = [name for name in _COLUMNS if name not in table.columns]
    if lacking:
        raise OutputError(
            f"table `events`: expected the column `{lacking[0]}`, found {', '.join(table.columns)}",
            code="unexpected-value",
            key="events",
            expected=lacking[0],
        )
    unknown = sorted({str(kind) for kind in table["kind"].unique().to_list()} - set(KINDS))
    if unknown:
        raise OutputError(
            f"table `events`: expected kinds {', '.join(KINDS)}, found `{unknown[0]}`",
            code="unexpected-value",
            key="events",
            expected=KINDS,
            found=unknown[0],
        )
