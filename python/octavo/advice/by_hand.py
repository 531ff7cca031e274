"""Copies of a recorded program that only its author can delete, who knows what host and device may share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo import plain
from octavo.advice import words

if TYPE_CHECKING:
    from octavo.advice.proposal import Advised, Plan

_MOST = 3
"""Buffers that get a sentence of their own; our choice."""


def notes(plan: Plan, alone: Plan) -> list[str]:
    """Sentences about device memory that stays as it is, and that would surely gain if host and device shared it.

    Args:
        plan: what an unchanged program can do.
        alone: what the model proposes if the program can be changed.

    """
    both = zip(plan.buffers, alone.buffers, strict=True)
    better = [shared for as_it_is, shared in both if as_it_is.placement == "device" and _helps(shared)]
    better.sort(key=lambda each: -each.gain.value)
    told = [_note(each) for each in better[:_MOST]]
    others = better[_MOST:]
    rest = sum(each.gain.value for each in others)
    return [*told, *([f"{len(others)} more buffers: {plain.seconds(rest)} by hand"] if others else [])]


def _helps(shared: Advised) -> bool:
    return shared.buffer.present == "device" and shared.placement != "device" and shared.gain.low > 0


def _note(shared: Advised) -> str:
    buffer, gain = shared.buffer, shared.gain
    lines = words.actions(buffer, shared.placement)["cuda"]
    code = " ".join(line.partition("  //")[0] for line in lines[:-1])
    copies = round(buffer.facts["copies"].value)
    between = f"{plain.seconds(gain.low)} to {plain.seconds(gain.high)}"
    return (
        f"`{buffer.name}`, by hand: if host and device may share this memory, delete its "
        f"{'copy' if copies == 1 else f'{copies:,} copies'} and the host's own memory, and write {code} Each "
        f"allocation gains {plain.seconds(gain.value)} ({between})"
    )
