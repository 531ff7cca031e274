"""What it is worth that device memory of a recorded program lies on the host, which then makes its copies itself.

`octavo apply` gives such memory to the driver as managed memory that stays on the host and that the device reaches over
the link. A copy for which the host waits is then a store of the host's: no call that copies, and nothing over the link.
Each launch that uses the memory takes it over the link. Memory that the program copies from or to stays what it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from octavo.advice.facts import BLOCK
from octavo.advice.model import moved_alone

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octavo.advice.facts import Placement
    from octavo.advice.model import AllocationCosts, Penalty, System
    from octavo.advice.systems import SystemConstants

CALLS = ("cudaMalloc", "cuMemAlloc")
"""Functions whose memory can lie elsewhere (`crates/octavo-interpose/src/apply/placement.rs`)."""
_ISSUE = "copy_issue_d2h"
"""The measured time of a call of the driver that asks for something and returns."""


@dataclass(frozen=True)
class Costs:
    """Bytes a second, and seconds a call."""

    system: System
    into: Mapping[str, float]
    """By whether the host's memory is pinned or pageable."""
    out: Mapping[str, float]
    issue: float

    @classmethod
    def of(cls, constants: SystemConstants) -> Costs:
        """Costs of a machine: measured where possible, otherwise its node's."""
        system, kinds = constants.system, ("pageable", "pinned")

        def rate(way: str, otherwise: float) -> dict[str, float]:
            return {kind: constants.value(f"copy_bandwidth_{way}_{kind}", otherwise) for kind in kinds}

        issue = constants.value(_ISSUE, system.prefetch_call)
        return cls(system, rate("h2d", system.copy), rate("d2h", system.copy_back), issue)


@dataclass
class _Used:
    """One allocation of device memory."""

    size: int
    now: float = 0.0
    """Seconds that its copies take."""
    stored: float = 0.0
    """Seconds that they take if the host makes them."""
    link: float = 0.0
    """Seconds that launches wait for it if it lies on the host."""
    can_lie_there: bool = True


def known(profile: Mapping[str, Any], constants: SystemConstants) -> dict[int, dict[Placement, Penalty]]:
    """The costs of device memory where it lies, and on the host, by allocation.

    Memory stays where it lies if a launch of unknown parameters may use it, or a copy for which nobody waits.

    Raises:
        KeyError: the recording is damaged; also TypeError and IndexError.

    """
    costs = Costs.of(constants)
    used = {
        number: _Used(int(each["bytes"]))
        for number, each in enumerate(profile["allocations"])
        if each["kind"] == "device" and each["bytes"] > 0
    }
    whole = not (profile.get("graph_launches") or profile.get("captured_launches") or profile.get("steps_lost"))
    whole = whole and all(each.get("parameters_known", True) for each in profile["kernels"])
    for step in profile["steps"]:
        if step["step"] == "copied":
            _copied(step, used, profile["allocations"], costs)
        elif step["step"] == "launch":
            blocks = int(profile["kernels"][step["kernel"]]["blocks"])
            for number in step["buffers"]:
                if number in used:
                    used[number].link += _over_the_link(used[number].size, blocks, costs.system)
    return {
        number: _priced(each, costs.system, can_move=whole and profile["allocations"][number]["call"] in CALLS)
        for number, each in used.items()
    }


def _copied(
    step: Mapping[str, Any], used: Mapping[int, _Used], allocations: Sequence[Mapping[str, Any]], costs: Costs
) -> None:
    for own, other, rates in ((step["to"], step["from"], costs.into), (step["from"], step["to"], costs.out)):
        if own not in used:
            continue
        kind = "pageable" if other is None else allocations[other]["kind"]
        if kind not in rates or not step.get("waited", False):
            used[own].can_lie_there = False
            continue
        used[own].now += costs.system.copy_call + step["bytes"] / rates[kind]
        # The driver's copy of ordinary memory is one thread's, and so is this one, which begins when all is done.
        used[own].stored += costs.issue + step["bytes"] / rates["pageable"]


def _over_the_link(size: int, blocks: int, system: System) -> float:
    """What a launch waits for memory on the host: a round trip, and all of it for each multiprocessor that it uses."""
    crossing = max(size, system.line) * min(blocks, system.multiprocessors)
    return system.latency + crossing / system.by_lines


def _priced(used: _Used, system: System, *, can_move: bool) -> dict[Placement, Penalty]:
    found: dict[Placement, Penalty] = {"device": moved_alone(copies=used.now)}
    if can_move and used.can_lie_there and used.now:
        pages = -(-used.size // 4096)
        having = _having(system.managed_memory, used.size) - _having(system.device_memory, used.size)
        found["pinned"] = moved_alone(
            copies=used.stored, exposed=used.link, having=having, first_touch=pages * system.first_touch
        )
    return found


def _having(costs: AllocationCosts, size: int) -> float:
    """Seconds of allocating and freeing it."""
    return costs.below_chunk if costs.below_chunk and size < BLOCK else costs.call + costs.each * -(-size // BLOCK)


def together(each: Sequence[Mapping[Placement, Penalty]]) -> dict[Placement, Penalty]:
    """The costs of allocations from one call site, which lie on the host all or not at all."""
    placements = [place for place in each[0] if all(place in one for one in each)]
    names = ("copies", "exposed", "having", "first_touch")
    return {
        place: moved_alone(**{name: sum(getattr(one[place], name) for one in each) for name in names})
        for place in placements
    }
