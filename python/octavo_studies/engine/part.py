"""A part of a study, declared: its runs, the rows that they give, what is made of all rows, the pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from octavo.runs.result import RunResult
    from octavo_studies.engine.findings import Found
    from octavo_studies.engine.study import Runs

Row = dict[str, Any]


class Runner(Protocol):
    """A study that runs what its parts want."""

    def run(self, part: str, wanted: Any, /) -> Runs[Any]:
        """Run what is not finished yet, by the key of each run."""


Of = TypeVar("Of", bound=Runner)


@dataclass(frozen=True)
class Part(Generic[Of]):
    """A part, which is called with a study."""

    name: str
    """Of its folder, and of the option that chooses it."""
    title: Callable[[Of], str]
    wanted: Callable[[Of], Mapping[Any, Any]]
    """Every run: what tells it from others, and what it changes."""
    rows: Callable[[Of, Mapping[Any, RunResult]], Iterable[Row]]
    """What the runs give, by the same keys."""
    tables: Callable[[Of, pl.DataFrame], Mapping[str, Any]]
    """What the report says beside the points: means, rows beside published ones, what is printed."""
    draw: Callable[[Found, Runs[Any]], object]
    points: Callable[[Of, pl.DataFrame], pl.DataFrame] = lambda _, rows: rows
    """The rows, with what compares them."""

    def __call__(self, study: Of) -> Found:
        """Run it, and leave tables and pictures.

        Raises:
            ScenarioError: it has no runs in the study, or something cannot be used.
            OutputError, SimulationError, InterruptedRun: as `Study.carry_out`.

        """
        runs = study.run(self.name, self.wanted(study))
        points = self.points(study, pl.DataFrame(list(self.rows(study, runs.results)), infer_schema_length=None))
        title = self.title(study)
        document = {"title": title, **self.tables(study, points), "points": points}
        return runs.found(title, points, document, lambda found: self.draw(found, runs))


def each(row: Callable[[Any, RunResult], Row]) -> Callable[[Any, Mapping[Any, RunResult]], list[Row]]:
    """One row a run, made of its key and its result."""
    return lambda _, results: [row(key, result) for key, result in results.items()]
