"""What results say of a program's size: footprint and memory at its scale and at scale 1, and what does not shrink."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.runs.pressure import pressure
from octavo.runs.sizes import notes, sizes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from octavo.cli.sink import Sink
    from octavo.runs.pressure import Pressure
    from octavo.runs.result import RunResult
    from octavo.runs.sizes import Size

_SHOWN = 3
"""Programs of different sizes that are told of."""


def tell(sink: Sink, result: RunResult, found: Pressure, *, of: str = "") -> None:
    """Say what a reader should know before the numbers of a program below scale 1 are taken for the whole one's."""
    for note in notes(result, found):
        sink.tell(f"Note{of}: {note}")


def tell_all(sink: Sink, results: Iterable[RunResult]) -> None:
    """Say it of every program and memory among results, each once, with the sizes themselves."""
    if sink.human:
        tell_sizes(sink, sizes(results))


def tell_sizes(sink: Sink, found: Sequence[Size]) -> None:
    """Say the first of them."""
    for one in found[:_SHOWN]:
        sink.tell(f"{one['program']}: {one['sentence']}")
        for note in one["notes"]:
            sink.tell(f"Note on {one['program']}: {note}")
    if len(found) > _SHOWN:
        sink.tell(f"and {len(found) - _SHOWN} more sizes of programs or of memory: --json has them")


def documents(results: Iterable[RunResult]) -> list[dict[str, Any]]:
    """The same for JSON, of each result by its folder."""
    return [{"folder": str(result.folder), **pressure(result).to_dict()} for result in results]
