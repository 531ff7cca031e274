"""The advice: where each buffer is to lie, what that brings, and why."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from octavo.advice import actions, model, words
from octavo.advice.facts import PLACEMENTS
from octavo.errors import AdviceError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octavo.advice.facts import Buffer, End, Placement
    from octavo.advice.model import Host, Penalty
    from octavo.advice.systems import SystemConstants

_HOSTS: Mapping[Placement, Host] = {"managed": "on-demand", "pinned": "pinned"}
_ENDS: tuple[End, ...] = ("low", "value", "high")


@dataclass(frozen=True)
class Range:
    """Seconds, and between what they are as far as the facts are sure."""

    low: float
    value: float
    high: float

    def less(self, other: Range) -> Range:
        """The difference, over the ranges of both."""
        return Range(self.low - other.high, self.value - other.value, self.high - other.low)


_NOTHING = Range(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Advised:
    """What is advised for one buffer."""

    buffer: Buffer
    placement: Placement
    costs: Mapping[Placement, Range]
    """What each placement costs beyond device memory, seconds."""
    penalties: Mapping[Placement, Penalty]
    """The terms of placements on the host."""
    gain: Range
    """Gain of the advised placement over the present one."""
    why: str
    """The dominant term, in words."""

    @property
    def ruled_out(self) -> list[Placement]:
        """Placements that thrash."""
        return [placement for placement, penalty in self.penalties.items() if penalty.thrashes]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            **self.buffer.to_dict(),
            "advised": self.placement,
            "gain": asdict(self.gain),
            "why": self.why,
            "costs": {placement: asdict(cost) for placement, cost in self.costs.items()},
            "ruled_out": self.ruled_out,
            "terms": {placement: penalty.terms for placement, penalty in self.penalties.items()},
            "actions": actions.of(self.buffer, self.placement),
        }


@dataclass(frozen=True)
class Plan:
    """Advice for all buffers of a program, under a budget of device memory."""

    buffers: list[Advised]
    budget: int
    """Bytes of device memory that may be used."""
    exact: bool
    """Whether no other choice under the budget has a larger predicted gain."""

    @property
    def placements(self) -> dict[str, Placement]:
        """Where each buffer is to lie."""
        return {each.buffer.name: each.placement for each in self.buffers}

    @property
    def present(self) -> dict[str, Placement]:
        """Where each buffer lies now."""
        return {each.buffer.name: each.buffer.present for each in self.buffers}

    @property
    def gain(self) -> Range:
        """Gain of the whole plan over the present placements."""
        gains = [each.gain for each in self.buffers]
        return Range(*(sum(getattr(gain, end) for gain in gains) for end in ("low", "value", "high")))


def plan(
    buffers: Sequence[Buffer],
    constants: SystemConstants,
    *,
    budget: int | None = None,
    placements: Sequence[Placement] = PLACEMENTS,
    readings: str = "sound",
) -> Plan:
    """Advise on buffers.

    Args:
        buffers: what is known of them.
        constants: the machine.
        budget: bytes of device memory that may be used; all of the machine's if left out.
        placements: those that may be advised.
        readings: of the model's equations.

    Raises:
        AdviceError: no placement is left for a buffer, or those that may lie nowhere else exceed the budget.

    """
    room = constants.system.capacity if budget is None else min(budget, constants.system.capacity)
    if not buffers:
        raise AdviceError("expected at least one buffer, found none")
    check_asked(room, placements)
    priced = [_priced(buffer, constants, placements, readings) for buffer in buffers]
    hosts = [
        _best_host(buffer, costs, penalties, placements)
        for buffer, (costs, penalties) in zip(buffers, priced, strict=True)
    ]
    bound = [buffer for buffer, host in zip(buffers, hosts, strict=True) if host is None]
    left = room - _needed(bound, room, placements, limited=room < constants.system.capacity)
    candidates = [
        (buffer.size, 0.0 if host is None or "device" not in placements else costs[host].value)
        for buffer, host, (costs, _) in zip(buffers, hosts, priced, strict=True)
    ]
    choice = model.choose(candidates, left)
    advised = []
    for buffer, host, chosen, (costs, penalties) in zip(buffers, hosts, choice.chosen, priced, strict=True):
        placement = "device" if chosen or host is None else host
        gain = costs[buffer.present].less(costs[placement]) if placement != buffer.present else _NOTHING
        why = words.why(buffer, placement, penalties, fits=chosen or buffer.size <= room)
        advised.append(Advised(buffer, placement, costs, penalties, gain, why))
    return Plan(advised, room, choice.exact)


def check_asked(room: int | None, placements: Sequence[Placement]) -> None:
    """Refuse unknown or no placements, and a negative budget.

    Raises:
        AdviceError: one of these was asked for.

    """
    unknown = [each for each in placements if each not in PLACEMENTS]
    if unknown or not placements:
        expected = ", ".join(PLACEMENTS)
        raise AdviceError(f"--placements: expected some of {expected}, found {', '.join(unknown) or 'none'}")
    if room is not None and room < 0:
        raise AdviceError(f"--budget: expected 0 B or more, found {room:,} B")


def _needed(bound: Sequence[Buffer], room: int, placements: Sequence[Placement], *, limited: bool) -> int:
    """Bytes of buffers that may lie nowhere on the host.

    Raises:
        AdviceError: they may not lie on the device, either, or do not fit there.

    """
    if bound and "device" not in placements:
        allowed = ",".join(placements)
        raise AdviceError(
            f"`{bound[0].name}`: none is left of --placements {allowed}: {_excluded(placements)}",
            f"allow others, too: --placements device,{allowed}",
        )
    needed = sum(buffer.size for buffer in bound)
    if needed > room:
        names = ", ".join(f"`{buffer.name}`" for buffer in bound)
        more = ["a larger --budget"] if limited else []
        more += ["other --placements"] if {*PLACEMENTS} - {*placements} else []
        raise AdviceError(
            f"{names}: expected at most {room:,} B, all of {'the budget' if limited else 'device memory'}, "
            f"found {needed:,} B that may lie nowhere else",
            f"allow {' or '.join(more)}" if more else None,
        )
    return needed


def _excluded(placements: Sequence[Placement]) -> str:
    """Why a buffer may not lie on the host, where it is allowed to."""
    reasons = {
        "managed": "host and device write it in turns, so that managed memory thrashes",
        "pinned": "nothing is known of the lines that pinned memory would cost",
    }
    return ", and ".join(reasons[placement] for placement in placements)


def _priced(
    buffer: Buffer, constants: SystemConstants, placements: Sequence[Placement], readings: str
) -> tuple[dict[Placement, Range], dict[Placement, Penalty]]:
    """What each placement costs, with the terms of those on the host.

    For any facts, arithmetic may hide all of the latency, or none of it.
    """
    system = constants.system
    costs: dict[Placement, Range] = {"device": _NOTHING}
    penalties: dict[Placement, Penalty] = {}
    for placement, host in _HOSTS.items():
        if placement not in {*placements, buffer.present} or (placement == "pinned" and not buffer.can_pin):
            continue
        asked = {end: buffer.structure(system, placement, end) for end in _ENDS}
        found = {end: model.penalty(system, asked[end], host, readings) for end in _ENDS}
        hidden = min(each.phi - each.exposed for each in found.values())
        shown = max(each.phi - each.exposed + each.latency for each in found.values())
        costs[placement] = Range(hidden, found["value"].phi, shown)
        penalties[placement] = found["value"]
    return costs, penalties


def _best_host(
    buffer: Buffer,
    costs: Mapping[Placement, Range],
    penalties: Mapping[Placement, Penalty],
    placements: Sequence[Placement],
) -> Placement | None:
    """The cheapest placement on the host that does not thrash; the present one wins among equals."""
    allowed = [each for each in placements if each in penalties and not penalties[each].thrashes]
    return min(allowed, key=lambda each: (costs[each].value, each != buffer.present), default=None)
