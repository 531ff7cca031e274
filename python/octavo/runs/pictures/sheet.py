"""Shared by all pictures: sizes, the frame around the data, and how files are written."""

from __future__ import annotations

import io
import math
import textwrap
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo import checks, extras
from octavo.errors import OutputError
from octavo.files import disk
from octavo.files.replacement import PICTURES, check_made
from octavo.plain import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.text import Text

COLUMN, PAGE = 3.5, 7.1
"""Widths in inches of one column and of both in the two-column layouts of IEEE and ACM."""
FORMATS = ("png", "svg", "pdf")
"""Formats of pictures; the ending of the file selects one."""
_CHARACTER = 0.075
"""The width of a character of 8 points, in inches; wide enough for capitals on average."""
_WITHOUT_DATES: Mapping[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


_BELOW: ContextVar[Callable[[], str] | None] = ContextVar("below", default=None)
_SMALL = 6
"""Points of what stands below pictures; chosen."""
_NARROWEST, _WIDEST = 1.5, 40.0
"""The least and the largest width of pictures, in inches; our choice."""


def figure(width: float, height: float) -> Figure:
    """An empty figure of some size in inches.

    Raises:
        ScenarioError: it would be less than 1.5 or more than 40 inches wide.
        ExtraError: Matplotlib is not installed.

    """
    width = checked_width("width", width)
    extras.need("matplotlib")
    from matplotlib.figure import Figure  # noqa: PLC0415 - importing it takes longer than most commands

    return Figure(figsize=(width, height), layout="constrained")


def checked_width(name: str, width: object) -> float:
    """A valid width for a picture, given as the argument `name`; the width of a page if none is given.

    Raises:
        ScenarioError: it is none.

    """
    return PAGE if width is None else checks.between(name, width, "inches", least=_NARROWEST, most=_WIDEST)


def headline(found: Figure, title: str) -> None:
    """The title of a whole figure, on as many lines as it needs."""
    found.suptitle(wrapped(title, found.get_figwidth(), size=10), fontsize=10)


def wrapped(text: str, width: float, size: float = 8) -> str:
    """A text of `size` points in lines that fit into `width` inches."""
    return textwrap.fill(
        text, max(int(width / text_width("x", size)), 12), break_long_words=False, break_on_hyphens=False
    )


def text_width(text: str, size: float = 8) -> float:
    """The approximate width in inches of a text of `size` points; never less than the real one."""
    return len(text) * _CHARACTER * size / 8


def tidy(axes: Axes, title: str, *, along: str = "y") -> None:
    """Settings of all axes: a title, faint lines behind the data along one axis, no box."""
    axes.set_title(title, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x", visible=False)
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x" if along == "x" else "y", linewidth=0.4, alpha=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8)


def steps(axis: Axis, inches: float, room: float) -> None:
    """Steps of 1, 2 and 5 on a logarithmic axis; if they do not fit, powers of ten, or of a hundred and so on.

    `room` is the space of a number along the axis.
    """
    low, high = axis.get_view_interval()
    decade = inches / math.log10(high / low)
    factors = (1, 2, 5) if decade > 3 * room else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    apart = max(math.ceil(1.5 * room / decade), 1)
    found = [factor * 10.0**power for power in powers if power % apart == 0 for factor in factors]
    shown = [step for step in found if low <= step <= high]
    axis.set_ticks(shown, [f"{step:g}" for step in shown])
    axis.set_ticks([], minor=True)


def legend(found: Figure, axes: Axes) -> None:
    """One legend below everything, in as many columns as fit."""
    handles, names = axes.get_legend_handles_labels()
    columns = _columns(names, found.get_figwidth())
    found.legend(handles, names, loc="outside lower center", ncols=columns, fontsize=7, frameon=False)


def legend_height(names: Sequence[str], width: float) -> float:
    """The height in inches of a legend with these names in a figure of some width."""
    return 0.16 * -(-len(names) // _columns(names, width)) + 0.1 if names else 0.0


def _columns(names: Sequence[str], width: float) -> int:
    """As many columns as fit, or fewer with the same number of rows: so the last row is as full as possible."""
    most = max(int(width / (0.5 + max(text_width(name, 7) for name in names))), 1)
    return -(-len(names) // -(-len(names) // most))


def number(value: float) -> str:
    """A value in few characters: three digits, or all digits before the point."""
    return (f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}").replace("-", "−")


def time_unit(picoseconds: float) -> tuple[str, float]:
    """The unit in which a time is easy to read, and its length in picoseconds."""
    units = (("s", 1e12), ("ms", 1e9), ("µs", 1e6))
    return next((found for found in units if picoseconds >= found[1]), ("ns", 1e3))


def check_format(path: Path) -> None:
    """Make sure that a picture can be drawn in the format of its name.

    Raises:
        ExtraError: Matplotlib is not installed.
        OutputError: its ending is none of `FORMATS`.

    """
    extras.need("matplotlib")
    if path.suffix[1:].lower() not in FORMATS:
        endings = ", ".join(f".{name}" for name in FORMATS)
        raise OutputError(
            f"cannot draw {path}: expected a name that ends in one of {endings}", code="unwritable", file=path
        )


def check_target(path: Path) -> None:
    """Make sure that a picture can be written to a file that a user named, before anything is computed.

    Raises:
        ExtraError: Matplotlib is not installed.
        OutputError: its ending is none of `FORMATS`, it cannot be written, or a file of another kind is there.

    """
    check_format(path)
    disk.check_file(path)
    check_made(path, PICTURES[path.suffix[1:].lower()])


class Picture:
    """A picture as notebooks show it; `save` writes it in the format of a file's ending."""

    def __init__(self, found: Figure) -> None:
        self.figure = found
        """Matplotlib's figure."""

    def save(self, path: str | Path) -> Path:
        """Write a PNG, SVG or PDF file, completely or not at all, with nothing in it that depends on the machine.

        Raises:
            OutputError: the ending is none of these, or the file cannot be written.

        """
        path = Path(path)
        check_format(path)
        disk.write_bytes(path, self._as(path.suffix[1:].lower()))
        return path

    def _as(self, kind: str) -> bytes:
        from matplotlib import rc_context  # noqa: PLC0415 - as above
        from matplotlib.text import Text  # noqa: PLC0415 - as above

        powers = _powers(self.figure)
        for text in self.figure.findobj(Text):
            if text not in powers:  # Names of others are no formulas.
                text.set_parse_math(False)
                text.set_text(visible(text.get_text()))
        into = io.BytesIO()
        # Fonts of type 42 keep the text of a PDF searchable, and are what publishers accept.
        with warnings.catch_warnings(), rc_context({"svg.hashsalt": "octavo", "pdf.fonttype": 42}):
            warnings.filterwarnings("ignore", message="Glyph")  # Characters that the font lacks are boxes.
            self.figure.savefig(into, format=kind, dpi=150, metadata=_WITHOUT_DATES[kind])
        return into.getvalue()

    def _repr_png_(self) -> bytes:
        return self._as("png")

    def __repr__(self) -> str:
        width, height = self.figure.get_size_inches()
        return f"<Picture of {width:.1f} x {height:.1f} inches; save(path) writes it>"


def _powers(found: Figure) -> set[Text]:
    """The labels of logarithmic axes: powers of ten, as formulas."""
    both = [axis for axes in found.axes for axis in (axes.xaxis, axes.yaxis)]
    return {text for axis in both if axis.get_scale() == "log" for text in axis.get_ticklabels(which="both")}


@contextmanager
def below(said: Callable[[], str]) -> Iterator[None]:
    """Say something below every picture that is made meanwhile: of which machine it is, and what that is worth."""
    token = _BELOW.set(said)
    try:
        yield
    finally:
        _BELOW.reset(token)


def write(found: Figure, path: Path | None) -> Picture:
    """The figure as a picture, in a file if one is named; errors as `Picture.save`."""
    if (said := _BELOW.get()) is not None:
        lines = wrapped(said(), found.get_figwidth(), _SMALL)
        found.set_figheight(found.get_figheight() + 0.1 + _SMALL / 55 * (1 + lines.count("\n")))
        found.supxlabel(lines, fontsize=_SMALL, color="#555555")
    picture = Picture(found)
    if path is not None:
        picture.save(path)
    return picture


def spread(texts: Sequence[str], places: Sequence[float], size: float = 8) -> list[int]:
    """Which of some labels at given positions in inches fit side by side; the outer two always do."""
    kept = [0]
    for index in range(1, len(texts)):
        while kept and _touch(texts, places, kept[-1], index, size):
            if index < len(texts) - 1 or kept == [0]:
                break
            kept.pop()
        else:
            kept.append(index)
    return kept


def _touch(texts: Sequence[str], places: Sequence[float], one: int, other: int, size: float) -> bool:
    apart = places[other] - places[one]
    return apart < (text_width(texts[one], size) + text_width(texts[other], size)) / 2
