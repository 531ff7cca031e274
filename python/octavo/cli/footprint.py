"""What results say of a program's size: footprint and memory at its scale and at scale 1, and what does not shrink."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.runs.pressure import pressure
from octavo.runs.room import room

if TYPE_CHECKING:
    from collections.abc import Iterable

    from octavo.cli.sink import Sink
    from octavo.runs.pressure import Pressure
    from octavo.runs.result import RunResult

_SHOWN = 3
"""Programs of different sizes that are told of."""


def tell(sink: Sink, result: RunResult, found: Pressure, *, of: str = "") -> None:
    """Say what a reader should know before the numbers of a program below scale 1 are taken for the whole one's."""
    beside = room(result, found)
    for note in (*found.notes, *([] if beside is None else [beside.sentence])):
        sink.tell(f"Note{of}: {note}")


def tell_all(sink: Sink, results: Iterable[RunResult]) -> None:
    """Say it of every program and memory among results, each once, with the sizes themselves."""
    if not sink.human:
        return
    first: dict[tuple[str, str], tuple[RunResult, Pressure]] = {}
    for result in results:
        found = pressure(result)
        first.setdefault((result.scenario.label, found.sentence), (result, found))
    for (label, sentence), (result, found) in list(first.items())[:_SHOWN]:
        sink.tell(f"{label}: {sentence}")
        tell(sink, result, found, of=f" on {label}")
    if len(first) > _SHOWN:
        sink.tell(f"and {len(first) - _SHOWN} more sizes of programs or of memory: --json has them")


def documents(results: Iterable[RunResult]) -> list[dict[str, Any]]:
    """The same for JSON, of each result by its folder."""
    return [{"folder": str(result.folder), **pressure(result).to_dict()} for result in results]
