"""The dominant term of a decision, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octavo.advice.facts import Buffer, Placement
    from octavo.advice.model import Penalty

_SPARSE = 0.5
"""Share of a buffer below which it is called sparse; chosen, of words alone."""
_ONCE = 1.05
"""Times that a page comes up to which it is said to come once; chosen, of words alone."""


def why(buffer: Buffer, placement: Placement, penalties: Mapping[Placement, Penalty], *, fits: bool) -> str:
    """Why a placement is advised: the term in which its rival costs most beyond it.

    The rival is the present placement, or the cheapest other one if the present one stays.
    """
    if placement != "device" and not fits:
        return "larger than the device memory that may be used"
    costs: dict[Placement, float] = {} if buffer.known else {"device": 0.0}
    costs |= {each: penalty.phi for each, penalty in penalties.items()}
    others = [each for each in costs if each != placement]
    if not others:
        return "nothing else may be advised"
    rival = buffer.present if buffer.present in others else min(others, key=lambda each: costs[each])
    if rival in penalties and penalties[rival].thrashes:
        return f"{rival} memory thrashes: host and device write it in turns"
    own = penalties[placement].terms if placement in penalties else {}
    terms = penalties[rival].terms if rival in penalties else dict.fromkeys(own, 0.0)
    term = max(terms, key=lambda name: terms[name] - own.get(name, 0.0))
    return f"{rival} memory costs {_cost(buffer, rival, term, penalties.get(rival))}"


def _cost(buffer: Buffer, rival: Placement, term: str, penalty: Penalty | None) -> str:
    if penalty is None:
        of_device = {"copy": "a copy", "launches": "cutting it up", "having": _device(buffer)}
        return f"{of_device.get(term, 'more')}; {_times(buffer)}, {_density(buffer)}"
    together = max(buffer.facts["concurrency"].value, 1.0)
    of_host = {
        "exposed": f"{size(penalty.volume)} over the link, {_times(buffer)}",
        "faults": f"{_faults(buffer)}, {together:.0f} served at a time",
        "prefetches": f"prefetching it before launches{_often(buffer.facts['ahead_calls'].value)}",
        "thrashing": "faults that are held up: host and device write it in turns",
        "first_touch": f"{_faults(buffer)}: the device touches it first",
        "returned": f"{size(buffer.facts['returned'].value)} back to the host, by its faults",
        "having": "pinning its pages" if rival == "pinned" else "making and freeing its pages",
    }
    return of_host.get(term, "more")


def _often(count: float) -> str:
    return f", {count:,.0f} times" if count > 1 else ""


def _faults(buffer: Buffer) -> str:
    count = f"{buffer.facts['faults'].value:,.0f}"
    return f"{count} fault" if count == "1" else f"{count} faults"


def _device(buffer: Buffer) -> str:
    """What it takes to have device memory."""
    seen = buffer.facts["copied_in"].value + buffer.facts["copied_out"].value > 0
    return "a second allocation beside the host's" if seen else "an allocation on the device"


def _times(buffer: Buffer) -> str:
    rho = buffer.facts["rho"].value
    return "touched once" if rho < _ONCE else f"its pages come {rho:.1f} times"


def _density(buffer: Buffer) -> str:
    used = buffer.facts["used"].value
    return f"sparse: {used:.2g} of it is used" if used < _SPARSE else "dense"


def size(count: float) -> str:
    """Bytes in the multiple that reads best."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def amount(count: float) -> str:
    """Bytes in powers of a thousand, as the memory of GPUs is told."""
    for unit in ("B", "KB", "MB", "GB"):
        if count < 999.5:
            return f"{count:.3g} {unit}" if unit != "B" else f"{count:.0f} B"
        count /= 1000
    return f"{count:.3g} TB"


def seconds(value: float) -> str:
    """A time, which may be below 0, in the multiple that reads best."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        # 0.9996 ms reads 1 ms, not 1e+03 µs.
        if abs(value) * factor >= 0.9995:
            return f"{value * factor:,.0f} {unit}" if abs(value) * factor >= 999.5 else f"{value * factor:.3g} {unit}"
    return f"{value * 1e9:.0f} ns" if value else "0"
