"""Whether the kinds of memory of a program come in the same order, measured and simulated."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octavo_studies.validate.programs.times import Spread


@dataclass(frozen=True)
class Order:
    """Kinds of memory of one program at one scale, the fastest first."""

    measured: Sequence[str]
    simulated: Sequence[str]
    pairs: int
    alike: int
    """Pairs of kinds of which the same one is faster."""
    told_apart: int
    """Pairs whose measured quartiles do not overlap."""
    told_apart_alike: int
    regret: float
    """How much longer the simulated best takes than the measured best, as measured."""

    @classmethod
    def of(cls, measured: Mapping[str, Spread], simulated: Mapping[str, float]) -> Order:
        """The order by times of the same kinds."""
        medians = {kind: spread.median for kind, spread in measured.items()}
        pairs = list(combinations(medians, 2))
        alike = {pair for pair in pairs if _first(medians, pair) == _first(simulated, pair)}
        apart = {pair for pair in pairs if measured[pair[0]].apart(measured[pair[1]])}
        one, other = sorted(medians, key=medians.__getitem__), sorted(simulated, key=simulated.__getitem__)
        regret = medians[other[0]] / medians[one[0]] - 1
        return cls(one, other, len(pairs), len(alike), len(apart), len(alike & apart), regret)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return dict(vars(self))


def _first(times: Mapping[str, float], pair: tuple[str, str]) -> str:
    return min(pair, key=lambda kind: times[kind])
