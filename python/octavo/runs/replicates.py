"""Replicates: several runs of a scenario, which differ only in what the scenario leaves open.

Nothing in a simulation is random: one run does not tell how much its time depends on chance. Replicates begin launches
at other times on each GPU and process equals in another order (`executor.replicate`). Replicate 0 is the run as it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from octavo import checks
from octavo.errors import ScenarioError
from octavo.scenarios.scenario import SIMULATED, Recipe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from octavo.scenarios.scenario import Scenario

MOST = 1000
"""Most replicates of a scenario; our choice. Intervals narrow with the square root of the number of replicates: those
of 1,000 are a tenth as wide as those of ten. Each replicate is a whole run."""
KEY = "executor.replicate"
IN_TIME = f"executor.kind={SIMULATED}"
"""A key that replicates add to a scenario, which leaves the executor out if it is the default."""
_CONFIDENCE = 0.95
"""Confidence of intervals, as far as so few replicates allow; our choice."""


@dataclass(frozen=True)
class Interval:
    """The median of several values, and the interval that contains the median of many more."""

    median: float
    low: float
    high: float
    count: int

    def overlaps(self, other: Interval) -> bool:
        """Whether the two are level: their intervals overlap."""
        return self.low <= other.high and other.low <= self.high

    @property
    def text(self) -> str:
        """The low and the high end relative to the median."""
        if not self.median:
            return "±0%"
        below, above = self.low / self.median - 1, self.high / self.median - 1
        return f"{below:+.1%} {above:+.1%}".replace("-", "−")


def interval(values: Iterable[float]) -> Interval:
    """The median and its interval from the order of the values alone, for any distribution.

    With six values or more, the interval holds the median with a probability of at least 95 %. With fewer, it covers
    all values and holds the median with a probability of 1 - 2^(1-n): 50 % for two, 94 % for five.
    """
    ordered = sorted(values)
    left_out = outside(len(ordered))
    return Interval(median(ordered), ordered[left_out], ordered[-1 - left_out], len(ordered))


def outside(count: int) -> int:
    """How many of some ordered values can be left out at each end."""
    left_out = 0
    while 1 - 2 * sum(math.comb(count, below) for below in range(left_out + 2)) / 2**count >= _CONFIDENCE:
        left_out += 1
    return left_out


def tied(found: Mapping[str, Interval], *, highest: bool = False) -> list[str]:
    """The best by its median, and all that are level with it, the best first."""
    ordered = sorted(found, key=lambda name: found[name].median, reverse=highest)
    return [name for name in ordered if found[name].overlaps(found[ordered[0]])]


def check(count: int, scenarios: Iterable[Scenario]) -> None:
    """Refuse scenarios that cannot have replicates.

    Raises:
        ScenarioError: there are fewer than one or too many, or a scenario has no time or is a replicate itself.

    """
    check_count(count)
    if count == 1:
        return
    for scenario in scenarios:
        if scenario.executor != SIMULATED:
            raise ScenarioError(
                f"no replicates without time: expected the executor {SIMULATED}",
                "leave out --replicates or --executor",
                code="no-time",
                expected=SIMULATED,
            )
        if found := scenario.values.get("executor", {}).get("replicate"):
            raise ScenarioError(
                f"no replicates of a replicate: `{KEY}`: expected none beside --replicates, found {found}",
                "leave out one of them",
                code="unexpected-value",
                key=KEY,
                found=found,
            )


def check_count(count: int) -> None:
    """Refuse impossible numbers of replicates; errors as `check`."""
    checks.whole("replicates", count, least=1, most=MOST)


def replicate(scenario: Scenario, number: int) -> Scenario:
    """One of the replicates of a scenario; the first, 0, is the scenario itself."""
    if number == 0:
        return scenario
    return Recipe(scenario.toml, "scenario").with_overrides([IN_TIME, f"{KEY}={number}"]).resolve()


def names(found: Sequence[str]) -> str:
    """The best and those level with it, in words."""
    return found[0] if len(found) == 1 else f"{found[0]}, level with {', '.join(found[1:])} (intervals overlap)"
