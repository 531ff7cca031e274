"""Facts in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.explain import words_of_stalls
from octavo.explain.changes import PLACEMENT
from octavo.explain.occupancy import REMOTE
from octavo.explain.what_if import TIE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from octavo.explain.facts import Facts
    from octavo.explain.what_if import Remedy

SPENT = {
    "local": "on lines from the GPU's own caches and memory",
    "host": "on fault messages and on waiting for the driver and its service",
    "migration": "on pages that migrate, once the driver has served their faults",
    "remote_access": "on lines in the memory of other processors",
    "duplication": "on pages that are duplicated",
    "write_collapse": "on replicas that a write takes away",
    "eviction": "on pages that leave to make room",
    "prefetch": "on pages that are prefetched",
    "walk": "on address translation: TLBs and walks",
}
"""The meaning of each cause."""
WAITED = {
    "walk": "page-table walks",
    "message": "the message to the host",
    "queue": "queues",
    "service": "service by the driver",
    "drain": "draining compute units",
    "copy": "copies",
    "other": "shootdowns, mappings and making room",
    "replay": "the replay",
    "total": "all of it",
}
"""The parts of `fault_waits`, in words."""
BUSY = 0.8
"""The share of the time above which something counts as what bounds a run; our choice."""
_QUEUED = 1.0
"""The share of time above which a resource bounds a run; waiting requests count. Our choice."""
_WAITING = (REMOTE,)
"""Shares that include waiting requests."""
_MANIFOLD = 2.0
"""The share above which words say `times` instead of per cent; our choice."""
_TOLD = 0.05
"""The share of the accesses' time above which a cause is mentioned; our choice."""
_MOSTLY = 0.5
"""The share of the time that kernels need to be what an explanation begins with; our choice."""
MOST_BUFFERS, _MOST_PAIRS = 3, 3
_OWN = "local"
"""The cause that says least about a run: stalls tell it better."""


def run(name: str, found: Facts) -> list[str]:
    """A run's explanation in sentences."""
    told = [_causes(found), words_of_stalls.of_all(found.kernels)]
    if next(iter(found.shares), None) == _OWN and told[1]:
        told = told[1:]
    first, *others = filter(None, [_phases(found), *told] if _outside(found) else [*told, _phases(found)])
    return [
        f"{name} took {milliseconds(found.time_ps)}: {first}.",
        *(f"{other[0].upper()}{other[1:]}." for other in others),
        *words_of_stalls.of_each(found.kernels),
        *_driver(found),
        *_waits(found),
        *_retries(found),
        *_without_room(found),
        *_links(found),
        *_occupied(found),
        *_buffers(found),
    ]


def _causes(found: Facts) -> str:
    told = [(cause, share) for cause, share in found.shares.items() if share >= _TOLD] or list(found.shares.items())[:1]
    if not told:
        return "nothing was accessed"
    first = f"{told[0][1]:.1%} of the time of its accesses goes {SPENT[told[0][0]]}"
    return ", ".join([first, *(f"{share:.1%} {SPENT[cause]}" for cause, share in told[1:])])


def _outside(found: Facts) -> bool:
    """Whether a whole program spends most of its time outside kernels, so that accesses say little about it."""
    return found.in_kernels < _MOSTLY


def _phases(found: Facts) -> str:
    """The phases of a whole program, for the middle of a sentence; empty for launches alone."""
    told = sorted(((share, phase) for phase, share in found.phases.items() if share >= _TOLD), reverse=True)
    parts = [f"{phase.replace('_', ' ')} {share:.0%}" for share, phase in told]
    return f"the whole program by phase, of which some may overlap: {', '.join(parts)}" if parts else ""


def _driver(found: Facts) -> Iterable[str]:
    if not found.faults:
        yield "The driver served no fault."
        return
    lines = f"The driver served {found.faults:,} faults, one for {found.lines / found.faults:,.0f} lines accessed"
    what, whose = ("the kernels", "the kernels' time") if found.phases else ("this run", "the time")
    if found.driver is None:
        yield f"{lines}."
    elif found.driver >= BUSY:
        yield f"{lines}; its service alone fills {found.driver:.0%} of {whose}: the driver bounds {what}."
    else:
        yield f"{lines}; its service fills {found.driver:.0%} of {whose}."


def _waits(found: Facts) -> Iterable[str]:
    if not found.waits:
        return
    *parts, whole = found.waits
    told = sorted((one for one in parts if one.share >= _TOLD), key=lambda one: -one.share)
    shares = ", ".join(f"{WAITED[one.part]} {one.share:.0%}" for one in told)
    yield (
        f"Half of the faults wait {duration(whole.p50_ps)} or less, 95% {duration(whole.p95_ps)}, "
        f"99% {duration(whole.p99_ps)}; of the time that they wait: {shares}."
    )


def _retries(found: Facts) -> Iterable[str]:
    if found.wakes_in_vain:
        yield f"{found.wakes_in_vain:,} wakes were in vain: every access that had waited faulted anew."
    if found.late_retries:
        yield (
            f"{found.late_retries:,} accesses were tried {duration(found.late_ps)} after their wake on average, "
            "because their unit stood still or their translation took long; their pages stayed until then."
        )


def _without_room(found: Facts) -> Iterable[str]:
    if found.without_room:
        yield (
            f"{found.without_room:,} pages took up no room, as each was local to every GPU from its first touch on "
            "(`ideal`): GPUs may hold more than their memory has room for."
        )


def _links(found: Facts) -> Iterable[str]:
    name, busy = next(iter(found.links.items()), ("", 0.0))
    if busy >= BUSY:
        full = [link for link, share in found.links.items() if share >= BUSY]
        yield f"Busy for {BUSY:.0%} of the time or more, and so bounding this run: {', '.join(full)}."
    elif busy:
        yield f"No link bounds it: the busiest, {name}, is busy for {busy:.1%} of the time."


def _occupied(found: Facts) -> Iterable[str]:
    parts = [f"{what} {_taken(what, share)}" for what, share in found.occupied.items()]
    if parts:
        yield f"In use on average over the GPUs: {', '.join(parts)}."
    full = [what for what, share in found.occupied.items() if share >= (_QUEUED if what in _WAITING else BUSY)]
    if full:
        yield f"This bounds {'the kernels' if found.phases else 'the run'}: {', '.join(full)}."


def _taken(what: str, share: float) -> str:
    percent = f"{share:.0%}" if share >= 0.1 else f"{share:.1%}"
    if what not in _WAITING:
        return percent
    much = f"{share:,.0f} times" if share >= _MANIFOLD else f"{percent} of"
    return f"{much} their limit, waiting ones included"


def _buffers(found: Facts) -> Iterable[str]:
    told = [row for row in found.buffers if row["faults"]][:MOST_BUFFERS]
    if told:
        parts = [f"{row['allocation']} {row['share']:.0%} (its pages moved {row['times']:,.1f} times)" for row in told]
        yield f"Faults by buffer: {', '.join(parts)}."


def pairs(found: Sequence[dict[str, Any]]) -> list[str]:
    """Between which memories most pages moved."""
    parts = [f"{row['from']} to {row['to']} {row['share']:.0%}" for row in found[:_MOST_PAIRS]]
    return [f"Most pages moved from {', '.join(parts)}."] if parts else []


def remedies(found: Sequence[Remedy] | None) -> list[str]:
    """The changes that were tried, ordered by their outcome."""
    if found is None:
        return []
    own = [one for one in found if not one.bound]
    groups = {
        "What helps, tried by simulation, one change at a time": [one for one in own if one.change < 0 and not one.tie],
        _no_difference(own): [one for one in own if one.tie],
        "What makes it slower": [one for one in own if one.change > 0 and not one.tie],
    }
    told = [f"{lead}: {'; '.join(map(_told, of))}." for lead, of in groups.items() if of]
    return [*told, *_bound(found)] or ["Nothing could be tried."]


def _no_difference(found: Sequence[Remedy]) -> str:
    if any(one.replicates > 1 for one in found):
        return "What cannot be told from chance (intervals overlap)"
    return f"What makes a difference below {TIE:.1%}"


def _bound(found: Sequence[Remedy]) -> Iterable[str]:
    """How far placement can help, as far as `ideal` shows it: its one cold read of each page may cost more."""
    for bound in (one for one in found if one.bound):
        better = any(one.override.startswith(PLACEMENT) and one.high_ps < (1 - TIE) * bound.low_ps for one in found)
        beaten = (
            "placements that leave pages on the host can beat that, and do here" if better else "none tried beats it"
        )
        gain = f"`{bound.name}` {change(bound.change)}"
        yield f"A bound for placements is {gain}, where a page costs one cold read: {beaten}."


def _told(one: Remedy) -> str:
    return one.label if one.tie else f"{one.label} {change(one.change)}"


def against(one: Remedy) -> str:
    """A change of time, or the words that it cannot be distinguished from none."""
    if not one.tie:
        return change(one.change)
    return "tie" if one.replicates > 1 else f"below {TIE:.1%}"


def changed(relative: float) -> str:
    """A change of time between two single runs, or that there is none."""
    return f"no difference of {TIE:.1%} or more" if abs(relative) < TIE else change(relative)


def change(relative: float) -> str:
    """A change of time."""
    return f"{relative:+.1%}".replace("-", "−")


def milliseconds(picoseconds: float) -> str:
    """Simulated time in sentences."""
    return f"{picoseconds * 1e-9:,.3f} ms"


def duration(picoseconds: float) -> str:
    """A wait, in the unit that reads best."""
    for factor, unit in ((1e-9, "ms"), (1e-6, "µs"), (1e-3, "ns")):
        if picoseconds * factor >= 1:
            return f"{picoseconds * factor:,.1f} {unit}"
    return f"{picoseconds * 1e-3:.1f} ns"
