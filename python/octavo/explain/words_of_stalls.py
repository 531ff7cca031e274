"""The time of kernels in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.explain.stalls import GAP, together

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from octavo.explain.stalls import Stalled

STALLED = {
    GAP: "from one launch to the next",
    "compute": "executing",
    "shared": "executing in shared memory",
    "pipeline": "waiting for busy pipelines",
    "gather": "issuing lines that lie apart",
    "code": "waiting for code",
    "barrier": "at barriers",
    "load": "waiting for loads",
    "store": "waiting for stores",
    "remote": "waiting for lines of other processors",
    "queue": "in queues for caches, memory and links",
    "walk": "waiting for translations",
    "fault": "waiting for faults",
}
"""The meaning of each stall, as wavefronts spend their time."""
NAMES = {
    GAP: "launch gap",
    "compute": "executing",
    "shared": "shared memory",
    "pipeline": "busy pipeline",
    "gather": "gather",
    "code": "code",
    "barrier": "barrier",
    "load": "load",
    "store": "store",
    "remote": "remote lines",
    "queue": "queue",
    "walk": "translation",
    "fault": "fault",
}
"""A short name of each, for pictures."""
_TOLD = 0.05
"""The share of the time above which a stall or an allocation is mentioned; our choice."""
_KERNEL = 0.1
"""The share of the kernels' time above which a kernel is mentioned; our choice."""
_MOST_KERNELS, _MOST_BUFFERS = 3, 3
_SERIES = 1.5
"""Waits of a wavefront from which on they are said to follow one another; our choice."""


def of_all(kernels: Sequence[Stalled]) -> str:
    """What all kernels spend their time with, for the middle of a sentence; empty if it is not known."""
    shares = together(kernels)
    gap = shares.pop(GAP, 0.0)
    whose = kernels[0].kernel if len(kernels) == 1 else "the kernels"
    spent = f"wavefronts spend {_listed({stall: share / (1 - gap) for stall, share in shares.items()})}"
    if gap < _TOLD:
        return f"of the time of {whose}, {spent}" if shares else ""
    launches = sum(one.launches for one in kernels)
    between = f"{gap:.0%} of the time of {whose} passes {STALLED[GAP]} ({launches:,} of them)"
    return f"{between}; of the rest, {spent}" if shares else between


def of_each(kernels: Sequence[Stalled]) -> Iterable[str]:
    """What single kernels wait for: how often in a row, and in which allocations."""
    for one in kernels[:_MOST_KERNELS]:
        if one.share < _KERNEL:
            continue
        parts = [] if len(kernels) == 1 else [f"{_listed(one.stalls)}"]
        if one.in_series >= _SERIES:
            parts.append(f"each wavefront waits for loads {one.in_series:,.0f} times, one after another")
        told = [(name, part) for name, part in one.allocations.items() if part >= _TOLD][:_MOST_BUFFERS]
        if told:
            parts.append(f"waits are for lines of {', '.join(f'{name} {part:.0%}' for name, part in told)}")
        if parts:
            share = "" if len(kernels) == 1 else f" ({one.share:.0%} of the kernels' time)"
            yield f"{one.kernel}{share}: {'; '.join(parts)}."


def _listed(shares: Mapping[str, float]) -> str:
    told = [(stall, share) for stall, share in shares.items() if share >= _TOLD] or list(shares.items())[:1]
    return ", ".join(f"{share:.0%} {STALLED[stall]}" for stall, share in told)
