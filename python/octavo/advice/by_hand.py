"""Copies of a recorded program that only its author can delete, who knows what host and device may share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo import plain
from octavo.advice import words

if TYPE_CHECKING:
    from collections.abc import Callable

    from octavo.advice.proposal import Advised, Plan

_MOST = 3
"""Buffers that get a sentence of their own, and places of their copies; our choice."""


def notes(plan: Plan, alone: Plan, copied_at: Callable[[int], list[str]]) -> list[str]:
    """Sentences about device memory that stays as it is, and that would surely gain if host and device shared it.

    Args:
        plan: what an unchanged program can do.
        alone: what the model proposes if the program can be changed.
        copied_at: where a buffer's copies were called, by its number.

    """
    both = enumerate(zip(plan.buffers, alone.buffers, strict=True))
    better = [
        (number, shared) for number, (as_it_is, shared) in both if as_it_is.placement == "device" and _helps(shared)
    ]
    better.sort(key=lambda each: -each[1].gain.value)
    told = [_note(shared, copied_at(number)) for number, shared in better[:_MOST]]
    rest = sum(shared.gain.value for _, shared in better[_MOST:])
    return [*told, *([f"{len(better) - _MOST} more buffers: {plain.seconds(rest)} by hand"] if rest else [])]


def _helps(shared: Advised) -> bool:
    return shared.buffer.present == "device" and shared.placement != "device" and shared.gain.low > 0


def _note(shared: Advised, places: list[str]) -> str:
    buffer, gain = shared.buffer, shared.gain
    lines = words.actions(buffer, shared.placement)["cuda"]
    code = " ".join(line.partition("  //")[0] for line in lines[:-1])
    copies = round(buffer.facts["copies"].value)
    at = f" ({', '.join(places[:_MOST])}{' and others' if len(places) > _MOST else ''})" if places else ""
    between = f"{plain.seconds(gain.low)} to {plain.seconds(gain.high)}"
    return (
        f"`{buffer.name}`, by hand: if host and device may share this memory, delete its "
        f"{'copy' if copies == 1 else f'{copies:,} copies'}{at} and the host's own memory, and write {code} Each "
        f"allocation gains {plain.seconds(gain.value)} ({between})"
    )
