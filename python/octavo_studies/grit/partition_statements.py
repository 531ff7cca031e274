"""Published statements about the sharing of pages, each with the range of a counted share in which it holds.

Where the publication has words for a share, the ranges are chosen once, the same for all kernels. "Nearly all" is nine
tenths, and "mixed" lies between a tenth and nine tenths. "Mostly" is more than half, and "few" less than half. Where it
has a number, found and published may differ by 15 points.
"""

from __future__ import annotations

from dataclasses import dataclass

_NEARLY_ALL, _MOST, _AROUND = 0.9, 0.5, 0.15
_READ_INTENSIVE = 0.1
"""Share of stores in the accesses to shared pages up to which these are read-intensive."""


@dataclass(frozen=True)
class Statement:
    """One published remark."""

    kernel: str
    """The publication's abbreviation."""
    text: str
    measure: str
    """A column of the points of `octavo_studies.grit.characterise`."""
    low: float
    high: float

    def holds(self, found: float | None) -> bool:
        """Whether a share is in its range, ends included; never if there is nothing that it is a share of."""
        return found is not None and self.low <= found <= self.high


def _private(kernel: str) -> Statement:
    return Statement(kernel, "pages nearly all private", "shared_pages", 0.0, 1 - _NEARLY_ALL)


def _shared(kernel: str) -> Statement:
    return Statement(kernel, "pages nearly all shared", "shared_pages", _NEARLY_ALL, 1.0)


def _mixed(kernel: str) -> Statement:
    return Statement(kernel, "private and shared pages", "shared_pages", 1 - _NEARLY_ALL, _NEARLY_ALL)


def _read(kernel: str) -> Statement:
    return Statement(kernel, "shared pages read-intensive", "stores", 0.0, _READ_INTENSIVE)


def _written(kernel: str) -> Statement:
    return Statement(kernel, "shared pages written", "written_accesses", _MOST, 1.0)


def _collapse(kernel: str, share: float) -> Statement:
    text = f"{share:.0%} of pages collapse and are duplicated again"
    return Statement(kernel, text, "duplicated_again", share - _AROUND, share + _AROUND)


STATEMENTS = (
    *map(_private, ("fir", "sc")),
    *map(_shared, ("bfs", "st")),
    *map(_mixed, ("c2d", "mm")),
    Statement("bfs", "few accesses to shared pages", "shared_accesses", 0.0, _MOST),
    *map(_read, ("bfs", "gemm", "mm")),
    *map(_written, ("bs", "c2d", "st")),
    _collapse("bs", 0.46),
    _collapse("c2d", 0.49),
    _collapse("st", 0.45),
    Statement("c2d", "shared pages mostly of two GPUs, in turn", "two_in_turn", _MOST, 1.0),
    Statement("st", "pages read in some phases, written in others", "phased", _MOST, 1.0),
)
"""All statements, in the order of the design of the study."""
