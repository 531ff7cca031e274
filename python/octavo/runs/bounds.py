"""Bounds among the variants of a comparison: no memory system reaches them, so none of them counts as the best."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octavo.runs.result import RunResult

BOUND = "ideal"
"""The placement without any cost: pages are wherever they are needed."""
_MARK = " (bound)"


def bounds(results: Mapping[tuple[str, str], RunResult]) -> set[str]:
    """The variants that are bounds: ideal ones, and those without a memory limit if others have one.

    Args:
        results: runs by workload and variant.

    """
    limited = {key: result.summary["capacity_bytes"] is not None for key, result in results.items()}
    some = {workload for (workload, _), has in limited.items() if has}
    return {
        variant
        for (workload, variant), result in results.items()
        if result.scenario.placement == BOUND or (workload in some and not limited[workload, variant])
    }


def marked(name: str, found: set[str]) -> str:
    """A variant as tables and pictures name it, with a mark if it is a bound."""
    return f"{name}{_MARK}" if name in found else name


def unmarked(name: str) -> str:
    """The variant with this name."""
    return name.removesuffix(_MARK)
