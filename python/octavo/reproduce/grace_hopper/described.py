"""Descriptions of the study's parts: the name, the runs, and the programs and kinds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo.errors import ScenarioError
from octavo.reproduce.grace_hopper.programs import PROGRAMS
from octavo.reproduce.grace_hopper.study import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from octavo.reproduce.grace_hopper.study import Part, Study


@dataclass(frozen=True)
class Described:
    """A part, which is called with a study."""

    name: str
    body: Callable[[Study], Part]
    programs: tuple[str, ...]
    kinds: tuple[str, ...]
    coherent: bool
    """Whether it needs a node whose host and GPU are coherent."""

    def __call__(self, study: Study) -> Part:
        """Run it.

        Raises:
            ScenarioError: it has no runs in the study, or something cannot be used.
            OutputError: a folder cannot be written, or holds something else.
            SimulationError: a scenario cannot be simulated; what is finished is kept.
            InterruptedRun: Ctrl-C; what is finished is kept.

        """
        self.check(study)
        return self.body(study)

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
            return f"it has runs of coherent nodes only, as gh200-numa is, not of {study.node}"
        return None


def part(
    name: str, *, programs: Iterable[str] = tuple(PROGRAMS), kinds: Iterable[str] = KINDS, coherent: bool = False
) -> Callable[[Callable[[Study], Part]], Described]:
    """Make a part of a function that runs it."""
    return lambda body: Described(name, body, tuple(programs), tuple(kinds), coherent)
