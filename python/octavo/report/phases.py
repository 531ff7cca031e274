"""The phases of whole programs: how long each took, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.runs import measures

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from octavo.report.runs import Run

ORDER = [*(phase.replace("_", " ") for phase in measures.PHASES), measures.OTHER]
"""Phases in the words of totals."""
MOMENTS = [
    *("allocation", "host initialisation", "copy in", "kernel"),
    *("copy out", "host results", "deallocation", "other"),
]
"""Phases in the usual order of programs."""
_FINEST = 500
"""The part of a run's time below which pauses are not drawn."""


def has_phases(run: Run) -> bool:
    """Whether a whole program ran."""
    return "phases" in run.summary


def totals(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """One row for each program and phase, copies in both directions joined: its time and its share."""
    rows = []
    for run in filter(has_phases, runs):
        of, whole = run.summary["phases"], run.summary["time_ps"]
        times = {phase: int(of[f"{phase}_ps"]) for phase in measures.PHASES}
        times[measures.OTHER] = max(whole - sum(times.values()), 0)
        rows += [
            {
                "run": run.number,
                "phase": phase.replace("_", " "),
                "time_ms": time / 1e9,
                "share": time / whole if whole else 0.0,
                "order": order,
            }
            for order, (phase, time) in enumerate(times.items())
        ]
    return rows


def spans(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """When phases ran, in milliseconds: actions of a phase that follow each other closely are one row."""
    return [row for run in filter(has_phases, runs) for row in _spans(run)]


def _spans(run: Run) -> Iterator[dict[str, Any]]:
    table = run.result.table("phases").sort("began_ps", "action")
    apart = run.summary["time_ps"] // _FINEST
    open_spans: dict[str, dict[str, Any]] = {}
    made = []
    for action in table.iter_rows(named=True):
        span = open_spans.get(action["phase"])
        if span is not None and action["began_ps"] <= span["ended"] + apart:
            span["ended"] = max(span["ended"], action["ended_ps"])
            span["actions"] += 1
            continue
        span = {"name": action["name"], "began": action["began_ps"], "ended": action["ended_ps"], "actions": 1}
        open_spans[action["phase"]] = span
        made.append((action["phase"], span))
    for phase, span in made:
        yield {
            "run": run.number,
            "phase": phase.replace("-", " "),
            "name": span["name"] if span["actions"] == 1 else f"{span['name']} and {span['actions'] - 1} more",
            "from": span["began"] / 1e9,
            "to": span["ended"] / 1e9,
        }
