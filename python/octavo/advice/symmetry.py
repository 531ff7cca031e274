"""Buffers that a program treats alike: of placements that differ in which of them lies where alone, one is run."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from octavo.advice.facts import PLACEMENTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octavo.advice.facts import Buffer, Placement

_COUNTED = ("used", "alpha", "copied_in", "copied_out", "copies")
"""Facts that every access and the program itself tell, in which no run has a part."""


def classes(buffers: Sequence[Buffer]) -> list[list[str]]:
    """Names of buffers that are alike: of one size, touched and copied as much, first by the same side."""
    found: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for buffer in buffers:
        told = (buffer.size, buffer.present, buffer.first, buffer.write_shared, buffer.can_pin)
        found[told + tuple(buffer.facts[name].value for name in _COUNTED)].append(buffer.name)
    return [names for names in found.values() if len(names) > 1]


def representative(choice: Mapping[str, Placement], alike: Sequence[Sequence[str]]) -> dict[str, Placement]:
    """The placement that is run in the place of another: buffers that are alike have theirs in the usual order."""
    found = dict(choice)
    for names in alike:
        places = sorted((choice[name] for name in names), key=PLACEMENTS.index)
        found.update(zip(names, places, strict=True))
    return found
