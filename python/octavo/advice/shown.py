"""Advice as a table, on the command line and in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.advice import words

if TYPE_CHECKING:
    from octavo.advice.plan import Plan, Range

COLUMNS = ("buffer", "size", "now", "advised", "gain", "between", "why")


def rows(plan: Plan) -> list[list[str]]:
    """A row for each buffer, in the order of `COLUMNS`."""
    return [
        [
            each.buffer.name,
            words.size(each.buffer.size),
            each.buffer.present,
            each.placement,
            words.seconds(each.gain.value),
            between(each.gain),
            each.why,
        ]
        for each in plan.buffers
    ]


def between(gain: Range) -> str:
    """From the low to the high end of a gain; a dash for one that is certain."""
    return f"{words.seconds(gain.low)} to {words.seconds(gain.high)}" if gain.low != gain.high else "–"
