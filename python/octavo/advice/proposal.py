"""A request for advice, and what the model proposes: where each buffer is to lie, what that brings, and why."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from octavo.advice import model, recording, words
from octavo.advice.facts import PLACEMENTS
from octavo.errors import AdviceError
from octavo.plain import near
from octavo.sweeps.run import check_crew

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octavo.advice.facts import Buffer, End, Placement
    from octavo.advice.model import Host, Penalty
    from octavo.advice.systems import SystemConstants

_HOSTS: Mapping[Placement, Host] = {"managed": "on-demand", "prefetched": "prefetched", "pinned": "pinned"}
RESIDUAL = 0.21
"""The model's usual error as a share of the sum of its terms' sizes: for nine in ten buffers of the workloads in
`docs/advise.md` it is smaller, measured one by one against whole programs on five nodes."""
_ENDS: tuple[End, ...] = ("low", "value", "high")


@dataclass(frozen=True)
class Range:
    """Seconds, with the range that facts and model leave open."""

    low: float
    value: float
    high: float

    def at_most(self, limit: float) -> Range:
        """The same range, cut off at a limit."""
        return Range(min(self.low, limit), min(self.value, limit), min(self.high, limit))


_NOTHING = Range(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Prices:
    """The costs of one buffer's placements on the host beyond device memory."""

    ends: Mapping[Placement, Mapping[End, Penalty]]
    """With the facts as they are, and with the ends of their ranges that favour the host most and least."""

    @property
    def penalties(self) -> dict[Placement, Penalty]:
        """With the facts as they are."""
        return {placement: each["value"] for placement, each in self.ends.items()}

    def gain(self, present: Placement, placement: Placement) -> Range:
        """Seconds that a placement gains over another one.

        The range covers both ends of the facts, widened by the model's usual error: a share of the differences between
        terms.
        """
        found: dict[End, tuple[float, float]] = {}
        for end in _ENDS:
            old, new = self._terms(present, end), self._terms(placement, end)
            apart = [old.get(term, 0.0) - new.get(term, 0.0) for term in {**old, **new}]
            found[end] = sum(apart), RESIDUAL * sum(map(abs, apart))
        low, high = min(gain - off for gain, off in found.values()), max(gain + off for gain, off in found.values())
        return Range(low, found["value"][0], high)

    def _terms(self, placement: Placement, end: End) -> Mapping[str, float]:
        return self.ends[placement][end].terms if placement in self.ends else {}


@dataclass(frozen=True)
class Advised:
    """The advice for one buffer."""

    buffer: Buffer
    placement: Placement
    prices: Prices
    gain: Range
    """Gain of the advised placement over the present one."""
    why: str
    """The dominant term, in words."""

    @property
    def costs(self) -> dict[Placement, Range]:
        """The cost of each placement beyond device memory, in seconds."""
        return {placement: self.prices.gain(placement, "device") for placement in ("device", *self.penalties)}

    @property
    def penalties(self) -> dict[Placement, Penalty]:
        """The terms of each placement on the host."""
        return self.prices.penalties

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
            "actions": words.actions(self.buffer, self.placement),
        }


@dataclass(frozen=True)
class Plan:
    """Advice for all buffers of a program, under a budget of device memory."""

    buffers: list[Advised]
    budget: int
    """Bytes of device memory that may be used."""
    exact: bool
    """Whether no other choice under the budget has a larger predicted gain."""
    time: float = inf
    """Seconds of the program as it is, which no gain exceeds; infinite if that is not known."""

    @property
    def placements(self) -> dict[str, Placement]:
        """The advised placement of each buffer."""
        return {each.buffer.name: each.placement for each in self.buffers}

    @property
    def present(self) -> dict[str, Placement]:
        """The present placement of each buffer."""
        return {each.buffer.name: each.buffer.present for each in self.buffers}

    @property
    def exchanged(self) -> list[str]:
        """Buffers that the host touches between launches."""
        return [each.buffer.name for each in self.buffers if each.buffer.exchanged]

    @property
    def gain(self) -> Range:
        """Gain of the whole plan over the present placements."""
        gains = [each.gain for each in self.buffers]
        total = Range(*(sum(getattr(gain, end) for gain in gains) for end in ("low", "value", "high")))
        return total.at_most(self.time)

    def choosing(self, placements: Mapping[str, Placement], time: float | None) -> Plan:
        """The same facts and costs with other placements, and the time of the program as it is, if it is known."""
        limit = self.time if time is None else time
        buffers = [
            _advised(each.buffer, placements[each.buffer.name], each.prices, self.budget, limit)
            for each in self.buffers
        ]
        return replace(self, buffers=buffers, time=limit)


@dataclass(frozen=True)
class Order:
    """A request with the arguments of `octavo.advise`."""

    budget: int | None
    """Bytes of device memory; of a program at scale 1, until `at_scale`."""
    percent: int | None
    """The same as a share of what the buffers have."""
    placements: tuple[Placement, ...]
    readings: Literal["sound", "published"]
    runs: int
    """Simulations that check the proposal."""
    exhaustive: bool
    on: str | None
    quick: bool
    faults: Path | None
    workers: int | None
    force: bool

    def check(self, source: object) -> None:
        """Refuse unknown values, and options that need another one.

        Raises:
            AdviceError: one of these.
            ScenarioError: `--on` names no place to run.

        """
        check_asked(self.budget, self.placements)
        check_crew(self.on)
        if self.on is not None and not self.exhaustive:
            raise AdviceError("--on: expected --exhaustive beside it", code="conflict", key="on")
        is_recording = isinstance(source, (str, Path)) and recording.is_recording(Path(source))
        if self.faults is not None and not is_recording:
            raise AdviceError(
                f"--faults: expected a recording to join it to, found {source}",
                "leave out --faults",
                code="unexpected-value",
                key="faults",
                found=source,
            )

    def on_gpus(self, gpus: int) -> Order:
        """The same on so many GPUs: a prefetch goes to one of them, so that it is none for a program of several.

        Raises:
            AdviceError: nothing else may be advised.

        """
        placements = tuple(each for each in self.placements if gpus == 1 or each != "prefetched")
        if not placements:
            raise AdviceError(
                f"--placements: expected others beside prefetched on {gpus} GPUs: a prefetch goes to one of them",
                "allow others, too, or --set node.gpus=1",
                code="unexpected-value",
                key="placements",
            )
        return replace(self, placements=placements)

    def at_scale(self, footprint: int, whole: int | None) -> Order:
        """The same for a program that is smaller than its whole: of bytes it gets its part."""
        if self.budget is None or whole is None or whole <= footprint:
            return self
        return replace(self, budget=-(-self.budget * footprint // whole))

    def plan(self, buffers: Sequence[Buffer], constants: SystemConstants, time: float = inf) -> Plan:
        """The model's proposal for buffers of a program that takes `time` seconds as it is."""
        sizes = sum(buffer.size for buffer in buffers)
        budget = self.budget if self.percent is None else sizes * self.percent // 100
        return plan(buffers, constants, budget=budget, placements=self.placements, readings=self.readings, time=time)

    def key(self, about: str, constants: SystemConstants) -> str:
        """Eight hexadecimal digits that distinguish requests with different plans."""
        asked = (about, asdict(constants.system), self.budget, self.placements, self.readings, self.quick, self.runs)
        faults = [] if self.faults is None else [str(self.faults.resolve())]
        beside = [*faults, *([] if self.percent is None else [f"{self.percent}%"])]
        return hashlib.sha256(repr((*asked, *beside)).encode()).hexdigest()[:8]


def plan(
    buffers: Sequence[Buffer],
    constants: SystemConstants,
    *,
    budget: int | None = None,
    placements: Sequence[Placement] = PLACEMENTS,
    readings: str = "sound",
    time: float = inf,
) -> Plan:
    """Advise on buffers.

    Args:
        buffers: what is known of them.
        constants: the machine.
        budget: bytes of device memory that may be used; all of the machine's if left out.
        placements: those that may be advised.
        readings: of the model's equations.
        time: seconds of the program as it is, if they are known.

    Raises:
        AdviceError: no placement is left for a buffer, or those that may lie nowhere else exceed the budget.

    """
    room = constants.system.capacity if budget is None else min(budget, constants.system.capacity)
    if not buffers:
        raise AdviceError("expected at least one buffer, found none", code="missing")
    check_asked(room, placements)
    stays = sum(buffer.size for buffer in buffers) <= constants.system.capacity
    usable = {*placements} & {"device", "pinned"} and sum(buffer.size for buffer in buffers) <= room
    buffers = [buffer if usable else unknown(buffer) for buffer in buffers]
    priced = [_priced(buffer, constants, placements, readings, stays=stays) for buffer in buffers]
    hosts = [_best_host(buffer, prices.penalties, placements) for buffer, prices in zip(buffers, priced, strict=True)]
    bound = [buffer for buffer, host in zip(buffers, hosts, strict=True) if host is None]
    left = room - _needed(bound, room, placements, limited=room < constants.system.capacity)
    candidates = [
        (buffer.size, 0.0 if host is None or buffer.known or "device" not in placements else prices.penalties[host].phi)
        for buffer, host, prices in zip(buffers, hosts, priced, strict=True)
    ]
    choice = model.choose(candidates, left)
    advised = []
    for buffer, host, chosen, prices in zip(buffers, hosts, choice.chosen, priced, strict=True):
        placement = "device" if chosen or host is None else host
        advised.append(_advised(buffer, placement, prices, room, time))
    return Plan(advised, room, choice.exact, time)


def unknown(buffer: Buffer) -> Buffer:
    """A buffer whose device memory may have to make way, or become managed: by the model alone, not by a recording."""
    return replace(buffer, known=None) if buffer.present == "device" else buffer


def _advised(buffer: Buffer, placement: Placement, prices: Prices, room: int, time: float) -> Advised:
    gain = prices.gain(buffer.present, placement) if placement != buffer.present else _NOTHING
    why = words.why(buffer, placement, prices.penalties, fits=buffer.size <= room)
    return Advised(buffer, placement, prices, gain.at_most(time), why)


def check_asked(room: int | None, placements: Sequence[Placement]) -> None:
    """Refuse unknown placements, an empty list of them, and a negative budget.

    Raises:
        AdviceError: one of these was asked for.

    """
    unknown = [each for each in placements if each not in PLACEMENTS]
    if unknown or not placements:
        expected = ", ".join(PLACEMENTS)
        raise AdviceError(
            f"--placements: expected some of {expected}, found {', '.join(unknown) or 'none'}",
            near(unknown[0], PLACEMENTS) if unknown else None,
            code="unexpected-value",
            key="placements",
            expected=expected,
        )
    if room is not None and room < 0:
        raise AdviceError(
            f"--budget: expected 0 B or more, found {room:,} B", code="unexpected-value", key="budget", found=room
        )


def _needed(bound: Sequence[Buffer], room: int, placements: Sequence[Placement], *, limited: bool) -> int:
    """Bytes of buffers that cannot be on the host.

    Raises:
        AdviceError: they may not lie on the device, either, or do not fit there.

    """
    if bound and "device" not in placements:
        allowed = ",".join(placements)
        raise AdviceError(
            f"`{bound[0].name}`: none is left of --placements {allowed}: {_excluded(placements)}",
            f"allow others, too: --placements device,{allowed}",
            key=bound[0].name,
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
            code="unexpected-value",
            expected=room,
            found=needed,
        )
    return needed


def _excluded(placements: Sequence[Placement]) -> str:
    """Why a buffer may not be on the host although that placement is allowed."""
    reasons = {
        "managed": "host and device write it in turns, so that managed memory thrashes",
        "pinned": "nothing is known of the lines that pinned memory would cost",
    }
    return ", and ".join(reasons[placement] for placement in placements if placement in reasons)


def _priced(
    buffer: Buffer, constants: SystemConstants, placements: Sequence[Placement], readings: str, *, stays: bool
) -> Prices:
    """The cost of each placement that may be advised, and of the present one.

    Unless the whole program `stays` on the device, what is prefetched leaves again and comes back by faults.
    """
    if buffer.known is not None:
        # Moves of more than the device has room for would push each other out.
        allowed = {*placements, buffer.present} if stays else {buffer.present}
        return Prices({each: dict.fromkeys(_ENDS, found) for each, found in buffer.known.items() if each in allowed})
    system = constants.system
    ends: dict[Placement, dict[End, Penalty]] = {}
    for placement, host in _HOSTS.items():
        if placement not in {*placements, buffer.present} or (placement == "pinned" and not buffer.can_pin):
            continue
        asked = {end: buffer.structure(system, placement, end) for end in _ENDS}
        comes: Host = "on-demand" if host == "prefetched" and not stays else host
        ends[placement] = {end: model.penalty(system, asked[end], comes, readings) for end in _ENDS}
    return Prices(ends)


def _best_host(
    buffer: Buffer, penalties: Mapping[Placement, Penalty], placements: Sequence[Placement]
) -> Placement | None:
    """The cheapest placement on the host that does not thrash; among equals, the present one."""
    allowed = [each for each in placements if each in penalties and not penalties[each].thrashes]
    return min(allowed, key=lambda each: (penalties[each].phi, each != buffer.present), default=None)
