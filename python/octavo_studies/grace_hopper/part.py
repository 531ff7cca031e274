"""A part of the study: which programs and kinds it has runs of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.errors import ScenarioError
from octavo_studies.engine import part as engine
from octavo_studies.grace_hopper.programs import PROGRAMS
from octavo_studies.grace_hopper.study import KINDS, Study

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from octavo_studies.engine import Found


@dataclass(frozen=True)
class Part(engine.Part[Study]):
    """A part of some programs and kinds."""

    programs: tuple[str, ...] = tuple(PROGRAMS)
    kinds: tuple[str, ...] = KINDS
    coherent: bool = False
    """Whether it needs a node whose host and GPU are coherent."""

    def __call__(self, study: Study) -> Found:
        """Run it, if it has runs in the study."""
        self.check(study)
        return super().__call__(study)

    def check(self, study: Study) -> None:
        """Refuse a study in which it has no runs.

        Raises:
            ScenarioError: it has none.

        """
        if why := self.lack(study):
            raise ScenarioError(
                f"part `{self.name}`: {why}",
                "choose others with --program and --kind, or leave them out",
                key=self.name,
                code="conflict",
            )

    def lack(self, study: Study) -> str | None:
        """Why it has no runs in a study, if so."""
        for has, asked in ((self.programs, study.programs), (self.kinds, study.kinds)):
            if set(has).isdisjoint(asked):
                return f"it has runs of {', '.join(has)} only, not of {', '.join(asked)}"
        if self.coherent and not study.coherent:
            return f"it has runs of coherent nodes only, as gh200-numa is, not of {study.node}"
        return None


def shown(*columns: str | pl.Expr) -> Callable[[Study, pl.DataFrame], Mapping[str, Any]]:
    """These columns of the points are printed."""
    return lambda _, points: {"shown": points.select(*columns)}


def milliseconds(name: str, called: str | None = None) -> pl.Expr:
    """A time in milliseconds, as it is printed."""
    return pl.col(f"{name}_ps").truediv(1e9).alias(f"{called or name} in ms")


def over(value: str, by: pl.Expr, *within: str) -> pl.Expr:
    """A measure of the run that `by` chooses over the measure of each run of the same `within`: its speed."""
    return pl.col(value).filter(by).first().over(*within) / pl.col(value)
