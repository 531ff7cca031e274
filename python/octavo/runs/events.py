"""Kinds of rows in `events` tables: those of simulated runs, and those that only profiles of real programs have.

This is the one place that names kinds. The engine's own come from the engine; `octavo.report` and its page, and
`octavo.measured.activity`, take theirs from here.
"""

from __future__ import annotations

import octavo._core as _core

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
"""Those of them that ask for write permission."""
GPU_REQUESTS = (*GPU_FAULTS, "counter")
"""Kinds in which a GPU asks the driver for a page."""
REQUESTS = (*GPU_REQUESTS, "cpu_fault")
"""Kinds in which any processor does."""
TRANSFERS = ("migration", "write_collapse", "eviction", "prefetch", "user_migration", "counter_migration")
"""Kinds in which bytes travel and the source gives its frame up."""
MOVES = (*TRANSFERS, "placed")
"""Kinds in which a copy changes hands; the source gives its frame up."""
COPIES = (*TRANSFERS, "duplication")
"""Kinds in which bytes travel."""
SCHEMES = ("scheme_on_touch", "scheme_access_counter", "scheme_duplication")
"""Kinds in which the scheme of a page changes, in the order of the schemes."""


def code(name: str) -> int:
    """The number of a kind, as tables for machines hold it."""
    return KINDS.index(name)
