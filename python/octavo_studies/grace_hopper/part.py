"""A part of the study: its runs, what each of them says, what is shown and drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.errors import ScenarioError
from octavo_studies.grace_hopper.programs import PROGRAMS
from octavo_studies.grace_hopper.study import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from octavo.runs.result import RunResult
    from octavo_studies.engine.found import Found
    from octavo_studies.engine.study import Runs
    from octavo_studies.grace_hopper.study import Key, Study

Row = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """A part, which is called with a study."""

    name: str
    title: Callable[[Study], str]
    wanted: Callable[[Study], Mapping[Key, Iterable[str]]]
    """Every run, with its changes to the usual scenario."""
    rows: Callable[[Study, Key, RunResult], Iterable[Row]]
    """What a run says, in one row or several."""
    points: Callable[[Study, pl.DataFrame], pl.DataFrame]
    """The rows of all runs, with what compares them."""
    shown: Callable[[pl.DataFrame], pl.DataFrame]
    """What is printed of the points."""
    draw: Callable[[Study, Found, Runs[Key]], object]
    programs: tuple[str, ...] = tuple(PROGRAMS)
    kinds: tuple[str, ...] = KINDS
    coherent: bool = False
    """Whether it needs a node whose host and GPU are coherent."""

    def __call__(self, study: Study) -> Found:
        """Run it.

        Raises:
            ScenarioError: it has no runs in the study, or something cannot be used.
            OutputError, SimulationError, InterruptedRun: as `Study.carry_out`.

        """
        self.check(study)
        runs = study.run(self.name, self.wanted(study))
        rows = [row for key, result in runs.results.items() for row in self.rows(study, key, result)]
        points = self.points(study, pl.DataFrame(rows, infer_schema_length=None))
        title, shown = self.title(study), self.shown(points)
        document = {"title": title, "shown": shown, "points": points}
        return runs.found(title, points, document, lambda found: self.draw(study, found, runs))

    def check(self, study: Study) -> None:
        """Refuse a study in which it has no runs.

        Raises:
            ScenarioError: it has none.

        """
        if why := self.lack(study):
            raise ScenarioError(
                f"part `{self.name}`: {why}", "choose others with --program and --kind, or leave them out"
            )

    def lack(self, study: Study) -> str | None:
        """Why it has no runs in a study, if so."""
        for has, asked in ((self.programs, study.programs), (self.kinds, study.kinds)):
            if set(has).isdisjoint(asked):
                return f"it has runs of {', '.join(has)} only, not of {', '.join(asked)}"
        if self.coherent and not study.coherent:
            return f"it has runs of coherent nodes only, as gh200 is, not of {study.node}"
        return None

    def of(self, study: Study) -> list[str]:
        """The programs of the study that it has runs of."""
        return [name for name in study.programs if name in self.programs]


def milliseconds(name: str, called: str | None = None) -> pl.Expr:
    """A time in milliseconds, as it is printed."""
    return pl.col(f"{name}_ps").truediv(1e9).alias(f"{called or name} in ms")


def over(value: str, by: pl.Expr, *within: str) -> pl.Expr:
    """A measure of the run that `by` chooses over the measure of each run of the same `within`: its speed."""
    return pl.col(value).filter(by).first().over(*within) / pl.col(value)
