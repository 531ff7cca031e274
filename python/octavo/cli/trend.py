"""`octavo compare --trend`: the same comparison at smaller scales, and whether its conclusions hold."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from octavo.errors import ScenarioError, SimulationError, again
from octavo.runs.trend import PARTS, Trend

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from octavo.cli.sink import Sink
    from octavo.comparisons import PlannedComparison
    from octavo.runs.comparison import Comparison
    from octavo.runs.execute import Point, Progress

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
        ScenarioError: it has no times, or its programs have no scale in common that can be changed.

    """
    if not planned.experiment.has_time:
        raise ScenarioError(
            "--trend: the executor `instant` has no times",
            "leave out --trend or --executor",
            code="no-time",
            key="trend",
        )
    scale = _scale(planned)
    plans = {scale * part: at_scale(scale * part) for part in PARTS if part < 1}
    for below, one in plans.items():
        if _scale(one) != below:
            raise ScenarioError(
                "--trend: expected programs whose size follows --scale, found one whose size is given",
                "leave out --trend, or what gives the size",
                code="unexpected-value",
                key="trend",
            )
    return plans


def _scale(planned: PlannedComparison) -> float:
    """The scale of all programs of a comparison."""
    scenarios = planned.experiment.scenarios.values()
    scales = {scale for scenario in scenarios for scale in scenario.scales}
    if len(scales) != 1 or any(scenario.traces for scenario in scenarios):
        raise ScenarioError(
            "--trend: expected programs of one scale, and no recorded traces",
            "leave out --trend",
            code="unexpected-value",
            key="trend",
        )
    return scales.pop()


def _folder(root: Path, scale: float) -> Path:
    """The folder of the comparison at a smaller scale: beside the requested one, whose reports do not include it."""
    beside = root.resolve()
    return beside.with_name(f"{beside.name}-trend") / f"{scale:g}"


def points(smaller: dict[float, PlannedComparison], root: Path) -> list[Point]:
    """Every run at a smaller scale."""
    return [point for scale, one in smaller.items() for point in one.experiment.points(_folder(root, scale))]


def follow(
    planned: PlannedComparison,
    comparison: Comparison,
    smaller: dict[float, PlannedComparison],
    root: Path,
    *,
    watch: Callable[[Progress], None] | None,
    workers: int | None,
    force: bool,
) -> Trend:
    """Run a comparison at smaller scales, and put it beside them.

    Raises:
        SimulationError: a run failed; its scale is named.

    """
    found = {_scale(planned): comparison}
    for scale, one in smaller.items():
        with _named(scale):
            found[scale] = one.run(_folder(root, scale), workers=workers, force=force, watch=watch, report=False)
    return Trend.of(found)


@contextmanager
def _named(scale: float) -> Iterator[None]:
    """Say at which scale a run failed."""
    try:
        yield
    except SimulationError as error:
        raise again(error, SimulationError, f"--trend, at scale {scale:g}: {error.message}") from error


def show(sink: Sink, trend: Trend, baseline: str) -> None:
    """A table of speed-ups by scale, and the meaning of each verdict."""
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
