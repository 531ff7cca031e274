"""What the time of each kernel passes with, for one bar each."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from octavo.explain.stalls import GAP, of_kernels
from octavo.runs.colours import STALLS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.report.runs import Run

_DRAWN: Final = {
    GAP: "launch gaps",
    "compute": "executing",
    "shared": "executing",
    "pipeline": "busy pipelines",
    "code": "busy pipelines",
    "gather": "gathers",
    "barrier": "barriers",
    "load": "loads",
    "store": "stores",
    "remote": "remote lines",
    "queue": "queues for memory and links",
    "walk": "translations",
    "fault": "faults",
}
"""What the picture calls each stall: shared memory counts as executing, code as a pipeline."""
SHADES: Final = dict(zip(dict.fromkeys(_DRAWN.values()), STALLS, strict=True))
"""The colours of the picture's parts, in their order from left to right."""
_KERNELS = 12
"""The most kernels of a run that the page draws: those that took longest."""


def rows(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """One row for each kernel and part of its time; none for runs whose wavefronts were not followed."""
    return [row for run in runs if run.simulated for row in _of_run(run)]


def _of_run(run: Run) -> list[dict[str, Any]]:
    order = list(SHADES)
    found = []
    for one in of_kernels(run.result)[:_KERNELS]:
        parts: dict[str, float] = defaultdict(float)
        for stall, share in one.stalls.items():
            parts[_DRAWN[stall]] += share
        found += [
            {
                "run": run.number,
                "kernel": one.kernel,
                "stall": part,
                "share": share,
                "time_ms": share * one.time_ps / 1e9,
                "whole": one.time_ps / 1e9,
                "launches": one.launches,
                "in_series": one.in_series,
                "buffers": ", ".join(f"{name} {of:.0%}" for name, of in list(one.allocations.items())[:3]),
                "order": order.index(part),
            }
            for part, share in parts.items()
        ]
    return found
