"""`octavo compare --trend`: the same comparison at smaller scales, and whether what it says holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.errors import ScenarioError
from octavo.runs.trend import PARTS, Trend

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from octavo.cli.sink import Sink
    from octavo.comparisons import PlannedComparison
    from octavo.runs.comparison import Comparison

_FOLDER = "trend"
"""Where the comparisons at smaller scales lie, below the folder of the one that was asked for."""
_MEANINGS = {
    "holds": "the same at all three scales, and at scale 1 if it goes on like this",
    "turns": "not the same at all three scales: compare at a larger one",
    "may turn": "it would turn before scale 1 if it went on like this: compare at a larger scale",
}


def smaller(
    planned: PlannedComparison, at_scale: Callable[[float], PlannedComparison]
) -> dict[float, PlannedComparison]:
    """Plan the comparison at the smaller scales of a trend.

    Raises:
        ScenarioError: its programs have no scale in common, or it has no times.

    """
    scales = {scale for scenario in planned.experiment.scenarios.values() for scale in scenario.scales}
    if len(scales) != 1:
        raise ScenarioError("--trend: expected programs of one scale", "leave out --trend, or recorded traces")
    if not planned.experiment.has_time:
        raise ScenarioError("--trend: the executor `instant` has no times", "leave out --trend or --executor")
    scale = scales.pop()
    return {scale * part: at_scale(scale * part) for part in PARTS if part < 1}


def folder(root: Path, scale: float) -> Path:
    """Where the comparison at a smaller scale lies."""
    return root / _FOLDER / f"{scale:g}"


def trend_of(planned: PlannedComparison, comparison: Comparison, below: dict[float, Comparison]) -> Trend:
    """Put a comparison beside those at smaller scales."""
    [scale] = {scale for scenario in planned.experiment.scenarios.values() for scale in scenario.scales}
    return Trend.of({**below, scale: comparison})


def show(sink: Sink, trend: Trend, baseline: str) -> None:
    """A table of speed-ups by scale, and what each verdict means."""
    columns = ["workload", "variant", *(f"at {scale:.4g}" for scale in trend.scales), "at 1, if it goes on", "verdict"]
    rows = [
        [
            course.workload,
            course.variant,
            *(f"{one:.2f}" for one in course.speedups),
            f"{course.at_full_size:.2f}",
            course.verdict,
        ]
        for course in trend.courses
    ]
    sink.table(f"Trend: speed-up over {baseline} by scale", columns, rows)
    for verdict in sorted({course.verdict for course in trend.courses}):
        sink.tell(f"{verdict}: {_MEANINGS[verdict]}.")
