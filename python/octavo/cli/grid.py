"""Tables as lines of text: a head, a rule, and rows whose cells continue below if they do not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.cli.terminal import cells

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from octavo.cli.columns import Laid

_BEGIN_NUMBERS = "0123456789+-–−"


def lines(part: Laid, rule: str) -> Iterator[str]:
    """The head, a line of `rule` characters, and the rows."""
    right = [index > 0 and numbers(column.cells) for index, column in enumerate(part.columns)]
    yield from _row([column.name for column in part.columns], part, right, low=True)
    yield " " + rule * (part.width - 2)
    for row in zip(*(column.cells for column in part.columns), strict=True):
        yield from _row(row, part, right)


def numbers(texts: Sequence[str]) -> bool:
    """Whether all of them begin like numbers."""
    return all(text[:1] in _BEGIN_NUMBERS for text in texts)


def words(texts: Sequence[str]) -> bool:
    """Whether each cell is a number, with its unit, or a single word."""
    return all(text[:1] in _BEGIN_NUMBERS or " " not in text for text in texts)


def _row(texts: Sequence[str], part: Laid, right: Sequence[bool], *, low: bool = False) -> Iterator[str]:
    """The lines of a row; short cells are on the last line if they are `low`, else on the first."""
    broken = [_wrapped(text, width) for text, width in zip(texts, part.widths, strict=True)]
    height = max(map(len, broken))
    blanks = [[""] * (height - len(cell)) for cell in broken]
    full = [above + cell if low else cell + above for above, cell in zip(blanks, broken, strict=True)]
    for line in zip(*full, strict=True):
        placed = [
            _placed(text, width, right=to_right) for text, width, to_right in zip(line, part.widths, right, strict=True)
        ]
        yield (" " + (" " * part.apart).join(placed)).rstrip()


def _placed(text: str, width: int, *, right: bool) -> str:
    blanks = " " * (width - cells(text))
    return blanks + text if right else text + blanks


def _wrapped(text: str, width: int) -> list[str]:
    """A cell on as many lines as it needs; words that are longer than a line are broken."""
    found: list[str] = []
    for line in text.split("\n"):
        begun = ""
        for word in line.split(" "):
            longer = f"{begun} {word}" if begun else word
            if cells(longer) <= width:
                begun = longer
                continue
            found += [begun] if begun else []
            *full, begun = _cut(word, width)
            found += full
        found.append(begun)
    return found


def _cut(word: str, width: int) -> list[str]:
    """The parts of a word, each short enough to fit."""
    parts = [""]
    for letter in word:
        if parts[-1] and cells(parts[-1] + letter) > width:
            parts.append("")
        parts[-1] += letter
    return parts
