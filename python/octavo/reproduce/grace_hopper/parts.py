"""The parts of the study by name, and of which programs and kinds each has runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo.errors import ScenarioError
from octavo.files.notes import note
from octavo.reproduce.grace_hopper import iterations, kinds, memory, oversubscription, pages
from octavo.reproduce.grace_hopper.programs import PROGRAMS
from octavo.reproduce.grace_hopper.study import KINDS, WITHOUT_COPIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from octavo.reproduce.grace_hopper.study import Part, Study


@dataclass(frozen=True)
class Described:
    """A part, and what it can run."""

    run: Callable[[Study], Part]
    programs: Iterable[str] = tuple(PROGRAMS)
    kinds: Iterable[str] = KINDS

    def lack(self, study: Study) -> str | None:
        """Why it has no runs in a study, if so."""
        for has, asked in ((self.programs, study.programs), (self.kinds, study.kinds)):
            if set(has).isdisjoint(asked):
                return f"it has runs of {', '.join(has)} only, not of {', '.join(asked)}"
        return None


PARTS = {
    "kinds": Described(kinds.relative),
    "srad": Described(iterations.srad, (iterations.PROGRAM,), WITHOUT_COPIES),
    "page-sizes": Described(pages.sizes, kinds=WITHOUT_COPIES),
    "oversubscription": Described(oversubscription.sweep, oversubscription.SHARED, WITHOUT_COPIES),
    "prefetch": Described(oversubscription.rescue, oversubscription.SHARED, (oversubscription.RESCUED,)),
    "memory": Described(memory.over_time, memory.PROGRAMS),
}


def chosen(study: Study, named: Iterable[str]) -> dict[str, Described]:
    """The parts that were named; all that have runs in the study if none was, with a note of each other one.

    Raises:
        ScenarioError: a part that was named has no runs.

    """
    asked = list(named)
    lacks = {name: why for name in asked or PARTS if (why := PARTS[name].lack(study))}
    for name, why in lacks.items():
        if asked:
            raise ScenarioError(f"part `{name}`: {why}", "choose others with --program and --kind, or leave them out")
        note(f"part `{name}` is skipped: {why}")
    return {name: PARTS[name] for name in asked or PARTS if name not in lacks}
