"""Text for readers: names that were likely meant, sizes and times that read well, and text of others.

Characters in text of others that move the cursor, change colours or reverse the direction become escapes.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_UNSEEN = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff]"
)
_IN_JSON = re.compile(rf"\\\\|\\u00[01][0-9a-f]|{_UNSEEN.pattern}")
"""The same for JSON, which has escapes of its own; an escaped backslash begins none."""
_MOST_CHARACTERS = 2000
"""Characters of a message; our choice. More is of no use to a reader."""
_MOST_NAMES, _OF_MORE = 12, 3
"""How many names a message lists, and how many of a longer list; our choice."""


def meant(found: str, names: Sequence[str]) -> str:
    """What an unknown name probably means; otherwise all names, or of many the most similar ones."""
    return near(found, names) or f"there are {_listed(found, names)}"


def near(found: str, names: Sequence[str]) -> str | None:
    """The name that was probably meant, whatever its case; None if no name is similar."""
    folded = {name.lower(): name for name in reversed(names)}
    nearest = get_close_matches(found.lower(), list(folded), 1)
    return f"did you mean `{folded[nearest[0]]}`?" if nearest else None


def one_of(found: str, names: Sequence[str]) -> str:
    """What was expected instead of a name that is none of these."""
    return f"one of {_listed(found, names)}"


def _listed(found: str, names: Sequence[str]) -> str:
    """All names, or their number and those most similar to what was found."""
    if len(names) <= _MOST_NAMES:
        return ", ".join(names)
    return f"{len(names)}, such as {', '.join(get_close_matches(found, names, _OF_MORE, 0))}"


def visible(text: str) -> str:
    """A text with control characters (except tabs and line ends) as escapes."""
    return _UNSEEN.sub(_spelled, text)


def _spelled(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape", "surrogatepass").decode()


def visible_json(text: str) -> str:
    """JSON with control characters in its strings as escapes."""
    return _IN_JSON.sub(_spelled_in_json, text)


def _spelled_in_json(found: re.Match[str]) -> str:
    if found[0] == "\\\\":
        return found[0]
    return "\\" + _spelled(found).replace("\\\\u00", "\\x")


def escaped(text: str) -> str:
    """JSON without control characters: its strings have escapes instead, so the values stay the same."""
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def shortened(text: str, most: int = _MOST_CHARACTERS) -> str:
    """The same, without the middle of a text that is too long."""
    return cut(visible(text), most)


def cut(text: str, most: int = _MOST_CHARACTERS) -> str:
    """A text without its middle if it is too long to read, with a note of its length.

    A quarter of the rest is its end, which may say what was found.
    """
    if len(text) <= most:
        return text
    return f"{text[: most - most // 4]} [… of {len(text):,} characters …] {text[-(most // 4) :]}"


def size(count: float) -> str:
    """Bytes in the unit that reads best."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def amount(count: float) -> str:
    """Bytes in powers of a thousand, as vendors state the memory of GPUs."""
    for unit in ("B", "KB", "MB", "GB"):
        if count < 999.5:
            return f"{count:.3g} {unit}" if unit != "B" else f"{count:.0f} B"
        count /= 1000
    return f"{count:.3g} TB"


def seconds(value: float) -> str:
    """A time, possibly negative, in the unit that reads best."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        # 0.9996 ms reads 1 ms, not 1e+03 µs.
        if abs(value) * factor >= 0.9995:
            return f"{value * factor:,.0f} {unit}" if abs(value) * factor >= 999.5 else f"{value * factor:.3g} {unit}"
    return f"{value * 1e9:.0f} ns" if value else "0"
