"""Facts about a program's buffers, where they come from, and how sure they are."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from octavo.advice.model import Ahead, FaultGroups, Structure, prefetched

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octavo.advice.model import Penalty, System, Toucher

Placement = Literal["device", "managed", "prefetched", "pinned"]
PLACEMENTS: tuple[Placement, ...] = ("device", "managed", "prefetched", "pinned")
"""Where a buffer can lie. `prefetched`: in managed memory, and prefetched before the launches that use it."""
End = Literal["value", "low", "high"]
"""Which value of each fact is taken: the value itself, or the end of its range that favours the host or the device."""
Certainty = Literal["counted", "simulated", "recorded", "estimated", "assumed"]
_FOR_HOST = {"alpha": "high", "occupancy": "high", "concurrency": "high", "copied_in": "high"}
"""The end of a fact's range that makes host placement look better; the lower one for all others."""
_OTHER = {"low": "high", "high": "low"}
BLOCK = 2 << 20
"""Bytes of the blocks in which the driver serves faults and prefetches."""
STOCK_TREE = 51
"""Per cent of a subtree that make the production driver bring the rest of it (`uvm_perf_prefetch_threshold`)."""
_BLOCK_PAGES = BLOCK // 4096
"""Pages of a block of the driver's tree."""
_LEAST = 1e-9
"""The least intensity, occupancy and share: the model knows no zero."""


@dataclass(frozen=True)
class Fact:
    """A number, the range that it is sure to be in, and how it is known."""

    value: float
    low: float
    high: float
    certainty: Certainty
    """`counted` from every access, `simulated` in a run, `recorded` in a profile, `estimated`, or `assumed`."""
    where: str

    @classmethod
    def exact(cls, value: float, certainty: Certainty, where: str) -> Fact:
        """A number without a range."""
        return cls(value, value, value, certainty, where)

    @classmethod
    def between(cls, low: float, value: float, high: float, certainty: Certainty, where: str) -> Fact:
        """A number and its range, which is widened if it does not contain the number."""
        high = max(low, high)
        return cls(min(max(value, low), high), low, high, certainty, where)


@dataclass(frozen=True)
class Buffer:
    """A buffer of a program."""

    name: str
    size: int
    """Bytes."""
    present: Placement
    """Where it lies now."""
    first: Toucher
    """The processor that touches its pages first."""
    write_shared: bool
    """Whether host and device write it in turns."""
    can_pin: bool
    """Whether the number of lines that pinned memory would transfer is known."""
    exchanged: bool
    """Whether the host touches it between launches, so that it has to be prefetched before each of them."""
    facts: Mapping[str, Fact]
    """As `octavo.advice.model.Structure` explains them: `sigma`, `rho`, `alpha`, `occupancy`, `lines`, `prefetches`,
    `stale_faults`, `fault_runs`, `copied_in`, `copied_out`, `copies`, `host_faults`, `returned`, `return_faults`,
    `return_prefetches`, `thrashing`; `ahead_calls`, `ahead_copies` and `ahead_bytes` of prefetches. Also `concurrency`
    (of its faults), `faults` (pages that fault), `used` (the share of its bytes that is touched) and `kernels` (seconds
    that they take). If a run or a profile counted them: `groups` and `blocks` that served its faults, and `migrations`,
    the pages that came to the device, with repetition."""
    known: Mapping[Placement, Penalty] | None = None
    """The cost of each placement, if a recording gives it. No other placement is possible for managed memory, as the
    host uses its address."""

    def knowing(self, facts: Mapping[str, Fact]) -> Buffer:
        """The same with better facts."""
        return replace(self, facts={**self.facts, **facts})

    def structure(self, system: System, placement: Placement, end: End = "value") -> Structure:
        """The model's input for a placement on the host: pages or lines come in the time of the kernels."""

        def of(name: str) -> float:
            if end == "value":
                return self.facts[name].value
            favourable = _FOR_HOST.get(name, "low")
            return float(getattr(self.facts[name], favourable if end == "low" else _OTHER[favourable]))

        sigma = min(max(of("sigma"), _LEAST), 1.0)
        rho = max(of("rho"), 1.0)
        pages = self.size * sigma * rho / system.page
        comes = of("lines") if placement == "pinned" else pages * system.page
        return Structure(
            size=self.size,
            lines=round(of("lines")),
            sigma=sigma,
            rho=rho,
            alpha=max(of("alpha"), _LEAST),
            occupancy=min(max(of("occupancy"), _LEAST), 1.0),
            required=self._required(comes, system),
            fault_concurrency=max(round(of("concurrency")), 1),
            fault_groups=FaultGroups(of("groups"), round(of("blocks"))) if "groups" in self.facts else None,
            prefetched_pages=max(round(pages - of("faults")), 0),
            prefetches=round(of("prefetches")),
            stale_faults=round(of("stale_faults")),
            fault_runs=round(of("fault_runs")),
            first=self.first,
            host_faults=round(of("host_faults")),
            returned=round(of("returned")),
            return_faults=round(of("return_faults")),
            return_prefetches=round(of("return_prefetches")),
            ahead=Ahead(*(round(of(f"ahead_{what}")) for what in ("calls", "copies", "bytes"))),
            thrashing=of("thrashing"),
            write_shared=self.write_shared,
            copied_in=round(of("copied_in")),
            copied_out=round(of("copied_out")),
            copies=round(of("copies")),
            seen_by_host=of("copied_in") + of("copied_out") > 0,
        )

    def _required(self, comes: float, system: System) -> float | None:
        """Bytes a second that a multiprocessor requests; if no time is known, the model takes the roofline's."""
        if "kernels" not in self.facts:
            return None
        return max(comes / self.facts["kernels"].value / system.multiprocessors, 1.0)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        plain = ("name", "size", "present", "first", "write_shared", "can_pin", "exchanged")
        return {
            **{name: getattr(self, name) for name in plain},
            "facts": {name: asdict(fact) for name, fact in self.facts.items()},
        }


def ahead(size: int, brought: Fact, calls: int, times: int) -> dict[str, Fact]:
    """Facts about prefetches before launches.

    Args:
        size: bytes of the buffer.
        brought: bytes that they bring from the host, in all.
        calls: how often the program prefetches.
        times: how often the host has touched it before one.

    """
    copies = float(-(-size // BLOCK) + max(times - 1, 0))
    blocks = "blocks of 2 MiB, and one each time that it comes again"
    return {
        "ahead_calls": Fact.exact(calls, brought.certainty, "one before the first launch, or before each"),
        "ahead_copies": Fact.exact(copies, brought.certainty, blocks),
        "ahead_bytes": brought,
    }


def swept(pages: int, threshold: int = STOCK_TREE) -> int:
    """The number of faults of a processor that goes through pages in order while the driver's tree fetches ahead."""
    blocks, rest = divmod(pages, _BLOCK_PAGES)
    of_block, of_rest = (
        prefetched(range(count), range(count), threshold=threshold).faults if count else 0
        for count in (_BLOCK_PAGES if blocks else 0, rest)
    )
    return blocks * of_block + of_rest
