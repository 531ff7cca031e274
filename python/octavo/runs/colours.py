"""Colours in pictures and reports: each has one meaning, and none is used twice.

A search chose the colours of each family (placements, processors, causes, …) so that they are as far apart as possible,
for readers with and without red-green colour blindness. Families that share a picture differ from each other, too:
names of variants (placements, kinds, `SERIES`), and holders of memory (processors, memories of the host, `SEVERAL`).
Other families are in pictures or panels of their own, each with its names: their colours differ, but a reader with
red-green colour blindness may confuse colours of two families. A test computes these distances. No colour is too light
on white. On the dark paper of reports, bars and lines have a light outline.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from octavo.runs.bounds import unmarked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PLACEMENTS: Mapping[str, str] = {
    "on-touch": "#38419b",
    "first-touch": "#8092f5",
    "access-counter": "#e39226",
    "duplication": "#26bfa4",
    "delayed-migration": "#0c006c",
    "grit": "#891d41",
    "griffin-dpc": "#268092",
    "gps": "#b6dafe",
    "ideal": "#d1e36e",
    "interleaved": "#9b6526",
    "coherent": "#6541f5",
    "fault-and-count": "#141414",
}
"""Colours of placements, and of the schemes with the same names."""

PROCESSORS = (
    *("#b6921d", "#533892", "#1df5f5", "#5c9bf5", "#535314", "#fed153", "#89bfb6", "#0d26cc", "#6633ff"),
    *("#80771d", "#f5a465", "#adb6fe", "#41659b", "#2f9bad", "#80265c", "#b6e3ad", "#776ed1"),
)
"""Colours of the host, and of each GPU; from the seventeenth GPU on, they repeat."""
SEVERAL = "#6b6b6b"
"""The colour of pages that more than one processor holds."""

CAUSES: Mapping[str, str] = {
    "local": "#6eecfe",
    "host": "#b68014",
    "migration": "#652f89",
    "remote_access": "#4a77d1",
    "duplication": "#f5899b",
    "write_collapse": "#ad5377",
    "eviction": "#6e4114",
    "prefetch": "#a4a4fe",
    "walk": "#e3d153",
}
"""Colours of the causes of access time, as `measures.CAUSES`; pages that move for a cause have its colour."""

PHASES: Mapping[str, str] = {
    "allocation": "#feb6fe",
    "host_initialisation": "#c89b2f",
    "copies": "#9b89ec",
    "kernels": "#148980",
    "host_results": "#892614",
    "deallocation": "#534aa4",
    "other": "#adec89",
}
"""Colours of the phases of whole programs, as `measures.PHASES`, and of the rest of their time."""

KINDS: Mapping[str, str] = {
    "explicit": "#5959bf",
    "managed": "#f2b200",
    "pinned": "#993300",
    "system": "#99b2ff",
}
"""Colours of the kinds of memory of whole programs."""

SERIES = ("#7373e6", "#b28040", "#801a73", "#5999a6", "#994c59", "#4000cc", "#40d999", "#99ffd9")
"""Colours of names without a colour of their own, in turn: those that are light on white come last."""

WAITS = ("#b6ec5c", "#4a14a4", "#5c8014", "#c892fa", "#5c3838", "#9238fa", "#dadafa", "#80b680")
"""Colours of the parts of a fault's wait, in the order of `fault_waits`."""
STALLS = (
    *("#747e9c", "#7eb09c", "#b0eca6", "#e2b010", "#6a2ea6", "#2474ec"),
    *("#92d8f6", "#d86a1a", "#4c1a10", "#9c9cf6", "#ba1a38"),
)
"""Colours of what the time of kernels passes with, in the order of `report.stalls`."""
LEVELS = ("#fa92fa", "#6e2638", "#daec14", "#1414da", "#c86e14")
"""Colours of the levels of memory with traffic, as `levels.LEVELS`."""
HOST_FAULTS = ("#92fa38", "#1426b6")
"""Colours of minor and of major page faults of the host."""
HOST_MEMORIES = ("#b2ff99", "#a68073", "#6680ff", "#4059bf")
"""Colours of the host's memories beyond its first, in turn."""
PAIRS = (
    *("#80dab6", "#383880", "#112514", "#8080fa", "#5cb614"),
    *("#2614ec", "#4a6e92", "#5ca4a4", "#86e926", "#4a4a38"),
)
"""Colours of pairs of lender and borrower, in turn."""
BUFFERS = ("#6e2680", "#fada14", "#da80fa", "#a46e14", "#1414fa", "#5cfaec", "#801414", "#c8a480")
"""Colours of the buffers in a roofline, in turn."""

ADVISED = "#c64810"
"""The colour of moves that are advised, among what happened to the buffers of a recorded program."""

ACCESS = ("#2f4a89", "#e3da80")
"""Colours of pages that were only read, and of pages that were written."""
SHARING = ("#d3dde4", "#a9c0cf", "#7b9cb4", "#557a96", "#365874", "#1d3850")
"""Colours of pages that one GPU, two GPUs and so on have requested; from light to dark, since it is an amount."""
ACTIVITY = ("#f7e0b0", "#e07a4a", "#7a1f2b")
"""Colours for few, more and many events."""
BUSY = ("#dcefe3", "#58ab8c", "#0c5647")
"""Colours for links that are hardly, more and most busy."""

_DARK = 0.42
"""The luma below which white text is easier to read than black."""


def placement(name: str) -> str | None:
    """The colour of a placement, or of a variant with one (`managed grit`); None for other names."""
    name = unmarked(name)
    return PLACEMENTS.get(_plain(name)) or PLACEMENTS.get(name.rpartition(" ")[2])


def _plain(name: str) -> str:
    return name.replace("_", "-").replace(" ", "-")


def of(names: Sequence[str]) -> list[str]:
    """A colour for each name: placements and kinds of memory have fixed ones, others take `SERIES` in turn.

    Two variants of one placement take colours from `SERIES`, too: each colour has one meaning.
    """
    own = [placement(name) or KINDS.get(name) for name in names]
    others = itertools.cycle(SERIES)
    return [colour if colour is not None and own.count(colour) == 1 else next(others) for colour in own]


def beside(names: Sequence[str]) -> list[str]:
    """Like `of`, for bars with their names beside them: beyond the end of `SERIES`, all others have one colour."""
    found = of(names)
    if len(set(found)) == len(found):
        return found
    return [SERIES[0] if colour in SERIES else colour for colour in found]


def own(names: Sequence[str]) -> list[str]:
    """The colour of each placement, and the first of `SERIES` for all others: for bars with their names beside them."""
    return [PLACEMENTS.get(_plain(name), SERIES[0]) for name in names]


def memories(names: Sequence[str]) -> list[str]:
    """A colour for each memory in tables: that of its processor; `host1`, `host2`, … have `HOST_MEMORIES`."""
    gpus = len(PROCESSORS) - 1
    return [
        PROCESSORS[1 + int(name[3:]) % gpus]
        if name.startswith("gpu")
        else PROCESSORS[0]
        if name == "host"
        else HOST_MEMORIES[(int(name[4:]) - 1) % len(HOST_MEMORIES)]
        for name in names
    ]


def ink(colour: str) -> str:
    """The text colour that is easiest to read on a colour."""
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return "white" if 0.299 * red + 0.587 * green + 0.114 * blue < _DARK else "black"


def style() -> str:
    """The colours as names of a style sheet: `--processor-0`, `--scheme-1`, `--access-1`, … for the page."""
    schemes = [PLACEMENTS[name] for name in ("on-touch", "access-counter", "duplication")]
    families = {
        "processor": enumerate(PROCESSORS),
        "scheme": enumerate(schemes, 1),
        "access": enumerate(ACCESS, 1),
        "sharing": enumerate(SHARING, 1),
        "activity": enumerate(ACTIVITY, 1),
    }
    named = [f"--{family}-{number}: {colour};" for family, found in families.items() for number, colour in found]
    return f":root {{ {' '.join(named)} --several: {SEVERAL}; }}\n"
