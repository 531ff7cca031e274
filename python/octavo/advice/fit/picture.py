"""Buffers over time: what of them is on the GPU, as text and as a picture."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from octavo.runs import colours
from octavo.runs.pictures import sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.advice.fit.answer import Fit
    from octavo.runs.pictures import Picture

State = Literal["here", "through", "away", "none"]
_ORDER: tuple[State, ...] = ("none", "away", "through", "here")
"""Of states that share a column, the last is shown."""
WIDE, HIGH = 60, 20
"""Columns and rows of pictures: the largest pieces are shown."""
UNICODE = {"here": "█", "through": "▒", "away": "·", "none": " "}
ASCII = {"here": "#", "through": "+", "away": ".", "none": " "}
WORDS = {"here": "on the GPU", "through": "passing through", "away": "on the host", "none": "not there"}
_COLOURS = {"here": colours.PROCESSORS[1], "through": colours.PROCESSORS[0], "away": "#dddddd"}


def states(fit: Fit, pieces: Sequence[int]) -> list[list[State]]:
    """A row for each of some pieces, a column for each launch: where it is then."""
    launches = [number for number, step in enumerate(fit.story.steps) if step.on_device]
    held: list[frozenset[int]] = [frozenset()] * len(fit.story.steps)
    through: dict[int, frozenset[int]] = {}
    movable = frozenset(range(len(fit.story.pieces)))
    if fit.weighed is not None:
        held = [frozenset(pieces) for pieces in fit.weighed.plan.held]
        through = {each.step: frozenset(each.pieces) for each in fit.weighed.served.passing}
        movable = fit.weighed.movable
    alive = _alive(fit)
    rows: list[list[State]] = []
    for piece in pieces:
        row: list[State] = []
        for number in launches:
            step = fit.story.steps[number]
            fixed = piece not in movable or fit.weighed is None
            here = fixed or piece in held[number]
            passing = piece in through.get(number, frozenset())
            there: State = "through" if passing else "here" if here else "away"
            row.append(there if alive[piece][0] <= step.launch < alive[piece][1] else "none")
        rows.append(row)
    return rows


def _alive(fit: Fit) -> list[tuple[float, float]]:
    """Launches before each piece comes into being, and before its end."""
    found = [(0.0, float("inf"))] * len(fit.story.pieces)
    for change in fit.story.changes:
        began, _ = found[change.piece]
        found[change.piece] = (began, change.launch) if change.freed else (change.launch, float("inf"))
    return found


def binned(row: list[State], columns: int) -> list[State]:
    """A row in at most so many columns: of what shares one, what is on the GPU most."""
    count = min(columns, len(row))
    ends = [round(len(row) * part / count) for part in range(count + 1)] if count else []
    return [max(row[begin:end], key=_ORDER.index) for begin, end in pairwise(ends)]


def text(fit: Fit, *, unicode: bool) -> list[tuple[str, str]]:
    """Name and row of each piece."""
    letters = UNICODE if unicode else ASCII
    return [(name, "".join(letters[state] for state in binned(row, WIDE))) for name, row in _largest(fit)]


def _largest(fit: Fit) -> list[tuple[str, list[State]]]:
    """Name and row of the largest pieces, in the order of all."""
    pieces = fit.story.pieces
    shown = sorted(sorted(range(len(pieces)), key=lambda number: -pieces[number].size)[:HIGH])
    return [(pieces[number].name, row) for number, row in zip(shown, states(fit, shown), strict=True)]


def key(*, unicode: bool) -> str:
    """What the letters mean."""
    letters = UNICODE if unicode else ASCII
    return ", ".join(f"{letters[state]} {WORDS[state]}" for state in reversed(_ORDER) if state != "none")


def draw(fit: Fit, *, width: float = sheet.PAGE) -> Picture:
    """A bar for each piece, launch by launch."""
    rows = _largest(fit)
    found = sheet.figure(width, 1.2 + 0.3 * max(len(rows), 1))
    axes = found.add_subplot()
    shown: set[str] = set()
    for line, (_, row) in enumerate(rows):
        for state, begin, end in _runs(row):
            if state in _COLOURS:
                label = WORDS[state] if state not in shown else None
                shown.add(state)
                axes.barh(line, end - begin, 0.7, left=begin, color=_COLOURS[state], label=label)
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel("launches", fontsize=8)
    sheet.tidy(axes, f"{fit.name}: what is on a GPU that gives it {fit.room / 1e9:,.3g} GB", along="x")
    if shown:
        sheet.legend(found, axes)
    return sheet.write(found, None)


def _runs(row: list[State]) -> list[tuple[State, int, int]]:
    """Equal states side by side."""
    found: list[tuple[State, int, int]] = []
    for place, state in enumerate(row):
        if found and found[-1][0] == state:
            found[-1] = (state, found[-1][1], place + 1)
        else:
            found.append((state, place, place + 1))
    return found
