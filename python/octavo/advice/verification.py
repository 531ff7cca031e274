"""Placements simulated as whole programs: the few that check the model's proposal."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from octavo.runs.execute import Point, attempt
from octavo.scenarios.scenario import Recipe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from octavo.advice.facts import Placement
    from octavo.advice.proposal import Plan
    from octavo.runs.execute import Progress
    from octavo.scenarios.scenario import Scenario

    Choice = Mapping[str, Placement]

RUNS = 4
"""Simulations that check a proposal unless another number is asked for. Our choice: the present placement, the proposal
and two more; docs/advise.md says what these bring."""
LETTERS: Mapping[Placement, str] = {"device": "d", "managed": "m", "prefetched": "f", "pinned": "p"}
"""Placements in folders' names and tables: `f` is fetched before launches."""
_LONGEST = 64
"""The most letters in a folder's name; with more buffers, the name is the digest of their scenario."""


@dataclass(frozen=True)
class Candidate:
    """A placement of all buffers that was simulated."""

    placements: dict[str, Placement]
    predicted: float | None
    """Seconds gained over the present placement by the model; none if the model has no price for one of the
    placements."""
    seconds: float | None
    """Simulated seconds of the whole program; none if it does not fit into memory."""

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Found:
    """Simulations of the present placement and of candidates, the present one first."""

    candidates: list[Candidate]
    choice: dict[str, Placement]
    """The placement of each buffer."""

    @property
    def present(self) -> float | None:
        """Seconds of the whole program as it is; none if it does not fit."""
        return self.candidates[0].seconds

    @property
    def advised(self) -> float | None:
        """Seconds as advised; none if it does not fit."""
        return next(each.seconds for each in self.candidates if each.placements == self.choice)

    @property
    def gain(self) -> float | None:
        """Seconds; none if one of the two does not fit."""
        return None if self.present is None or self.advised is None else self.present - self.advised

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        both = self.present, self.advised
        return {
            "present": self.present,
            "advised": self.advised,
            "gain": self.gain,
            "speedup": None if None in both or not self.advised else (self.present or 0.0) / self.advised,
            "candidates": [each.to_dict() for each in self.candidates],
        }


def label(placements: Choice) -> str:
    """Placements as a word with one letter for each buffer: `dmp`."""
    return "".join(LETTERS[placement] for placement in placements.values())


def placed(scenario: Scenario, placements: Choice, exchanged: Iterable[str] = ()) -> Scenario:
    """The scenario as a whole program with each buffer in its placement.

    Args:
        scenario: the program.
        placements: where each buffer lies.
        exchanged: buffers that are prefetched before each launch, as the host touches them in between.

    """
    told = scenario.values.get("program", {}).get("buffers", {})
    said = [change for name, kind in placements.items() for change in _said(name, kind, told.get(name, {}), exchanged)]
    return Recipe(_without_buffers(scenario.toml), "scenario", ("program.kind=managed", *said)).resolve()


def _without_buffers(toml: str) -> str:
    """A resolved scenario without anything about single buffers: a change adds to a table and removes nothing."""
    sections = re.split(r"^(?=\[)", toml, flags=re.MULTILINE)
    return "".join(section for section in sections if not section.startswith("[program.buffers"))


def _said(name: str, placement: Placement, own: Mapping[str, Any], exchanged: Iterable[str]) -> Iterator[str]:
    """Overrides that put a buffer into its placement, and keep what the program says about managed memory."""
    key = f"program.buffers.{json.dumps(name)}"
    if placement == "prefetched" and not own.get("prefetch", "").startswith("gpu"):
        yield f'{key}={{kind="managed", prefetch="gpu0", prefetch_before="{_before(name, exchanged)}"}}'
    elif placement in ("managed", "prefetched"):
        kept = {what: value for what, value in own.items() if placement == "prefetched" or "prefetch" not in what}
        yield f"{key}={_table({**kept, 'kind': 'managed'})}"
    else:
        yield f'{key}={{kind="{placement}"}}'


def _before(name: str, exchanged: Iterable[str]) -> str:
    return "each-launch" if name in exchanged else "first-launch"


def _table(values: Mapping[str, Any]) -> str:
    """A table of plain values, as TOML has it in a line."""
    return "{" + ", ".join(f"{key} = {json.dumps(value)}" for key, value in values.items()) + "}"


def seconds(
    scenario: Scenario,
    choices: Sequence[Choice],
    root: Path,
    *,
    exchanged: Iterable[str] = (),
    workers: int | None = None,
    force: bool = False,
    watch: Callable[[Progress], None] | None = None,
) -> list[float | None]:
    """Simulated seconds of the whole program under each choice; none for those that do not fit into memory.

    Those finished in `root` are not run again, unless `force` is to replace them.

    Raises:
        OctavoError: one cannot be simulated, or a folder holds something else.

    """
    runs = points(scenario, choices, root, exchanged)
    done = attempt(list(runs.values()), may_fill=True, workers=workers, force=force, watch=watch)
    found = dict(zip(runs, done, strict=True))
    return [None if (run := found[label(choice)]) is None else run.seconds for choice in choices]


def points(
    scenario: Scenario, choices: Sequence[Choice], root: Path, exchanged: Iterable[str] = ()
) -> dict[str, Point]:
    """One run for each choice, by its label."""
    quiet = Recipe(scenario.toml, "scenario", ("record.events=false", "record.interval=0ns")).resolve()
    labels = {label(choice): choice for choice in choices}
    return {name: _point(name, placed(quiet, choice, exchanged), root) for name, choice in labels.items()}


def _point(name: str, scenario: Scenario, root: Path) -> Point:
    folder = root / (name if len(name) <= _LONGEST else scenario.digest)
    return Point(name, scenario, folder)


def candidates(plan: Plan, placements: Sequence[Placement], runs: int) -> list[dict[str, Placement]]:
    """The present placement, the model's proposal, and the choices that the model ranks next: `runs`, but at least two.

    Next best are the proposal with one buffer moved elsewhere, and all buffers in one kind of memory.
    """
    ranked = sorted(
        _neighbours(plan, placements), key=lambda choice: (-(predicted(plan, choice) or 0.0), label(choice))
    )
    known = {label(choice): choice for choice in (plan.present, plan.placements, *ranked)}
    return list(known.values())[: max(runs, 2)]


def _neighbours(plan: Plan, placements: Sequence[Placement]) -> Iterator[dict[str, Placement]]:
    sizes = {each.buffer.name: each.buffer.size for each in plan.buffers}
    alike = [dict.fromkeys(sizes, placement) for placement in placements]
    one_off = [{**plan.placements, name: placement} for name in sizes for placement in placements]
    for choice in (*alike, *one_off):
        if predicted(plan, choice) is not None and device_bytes(choice, sizes) <= plan.budget:
            yield choice


def device_bytes(choice: Choice, sizes: Mapping[str, int]) -> int:
    """Bytes of device memory that a choice needs."""
    return sum(sizes[name] for name, placement in choice.items() if placement == "device")


def predicted(plan: Plan, choice: Choice) -> float | None:
    """Seconds that a choice gains over the present one by the model; none if it thrashes, or has no price."""
    total = 0.0
    for each in plan.buffers:
        placement, phi = (
            choice[each.buffer.name],
            {"device": 0.0, **{name: one.phi for name, one in each.penalties.items()}},
        )
        if placement not in phi or placement in each.ruled_out:
            return None
        total += phi[each.buffer.present] - phi[placement]
    return total


def listed(plan: Plan, placements: Sequence[Placement], simulated: Mapping[str, float | None]) -> list[Candidate]:
    """What was simulated, by label, beside the model's prediction."""
    known = {label(choice): choice for choice in (plan.present, plan.placements, *_neighbours(plan, placements))}
    return [Candidate(known[name], predicted(plan, known[name]), time) for name, time in simulated.items()]


def chosen(plan: Plan, placements: Sequence[Placement], simulated: Mapping[str, float | None]) -> Found:
    """The fastest of the simulated choices, by label; the present placement unless another one is faster.

    The present placement is no answer if the budget or the allowed placements exclude it.
    """
    found = listed(plan, placements, simulated)
    sizes = {each.buffer.name: each.buffer.size for each in plan.buffers}
    fits = device_bytes(plan.present, sizes) <= plan.budget
    may_stay = fits and {*plan.present.values()} <= {*placements}
    among = found if may_stay or plan.present == plan.placements else found[1:]
    best = min(among, key=lambda each: inf if each.seconds is None else each.seconds, default=None)
    works = best is not None and best.seconds is not None
    return Found(found, best.placements if works and best is not None else plan.placements)
