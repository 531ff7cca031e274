"""How large programs are, and the memory that they have: of many results, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from octavo.runs.pressure import pressure
from octavo.runs.room import room

if TYPE_CHECKING:
    from collections.abc import Iterable

    from octavo.runs.pressure import Pressure
    from octavo.runs.result import RunResult


class Size(TypedDict):
    """A program and the memory that it has."""

    program: str
    sentence: str
    """Footprint and memory, at the scale of the run and at scale 1."""
    notes: list[str]
    """What to know before its numbers are taken for the whole program's."""


def sizes(results: Iterable[RunResult]) -> list[Size]:
    """Every program and memory among results."""
    found: dict[tuple[str, str], Size] = {}
    for result in results:
        pressed, program = pressure(result), result.scenario.label
        sentence = pressed.sentence
        if (program, sentence) not in found:
            found[program, sentence] = Size(program=program, sentence=sentence, notes=notes(result, pressed))
    return list(found.values())


def notes(result: RunResult, found: Pressure) -> list[str]:
    """What a reader should know before the numbers of a program below scale 1 are taken for the whole one's."""
    beside = room(result, found)
    return [*found.notes, *([] if beside is None else [beside.sentence])]
