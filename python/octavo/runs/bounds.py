"""Bounds among the variants of a comparison: no memory system reaches them, so none of them is the best."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octavo.runs.result import RunResult

BOUND = "ideal"
"""The placement that is none: pages are wherever they are needed, at no cost."""
_MARK = " (bound)"


def bounds(results: Mapping[tuple[str, str], RunResult]) -> set[str]:
    """The variants that are bounds: those that are ideal, and those without a limit of memory beside one with it.

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
    """A variant as tables and pictures name it."""
    return f"{name}{_MARK}" if name in found else name


def unmarked(name: str) -> str:
    """The variant that is named so."""
    return name.removesuffix(_MARK)
