"""What moving memory costs on a machine: the only place where plans get their constants from."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from octavo.advice.fit.plan import Load
from octavo.advice.moments import Rates

if TYPE_CHECKING:
    from octavo.advice.systems import SystemConstants

LEAF = 64 << 10
"""Bytes that every fault brings at least (`docs/advise.md`)."""
MOST_RESERVE = 512 << 20
SHARE_RESERVED = 64
"""What the driver and a context keep of a GPU: this many bytes, and of a small memory this part. Chosen: a context of a
current driver takes 300 to 600 MB."""


def reserve(memory: int) -> int:
    """What of a memory no program gets."""
    return min(MOST_RESERVE, memory // SHARE_RESERVED)


@dataclass(frozen=True)
class Costs:
    """Bytes a second, and seconds a call."""

    demand: float
    """To the device at its faults, as the driver's tree goes ahead."""
    leaf: float
    """The same where each fault brings its 64 KiB alone."""
    link: float
    """The same where faults cost nothing."""
    evict: float
    """To the host where the driver makes room: taken to be as fast as a prefetch there."""
    back: float
    """To the host at its faults."""
    fetch: float
    fetch_call: float
    """Prefetched to the device."""
    leave: float
    leave_call: float
    """Prefetched to the host."""
    stream_in: float
    stream_out: float
    """Copied from and to pinned memory."""
    copy_call: float
    launch: float

    @classmethod
    def of(cls, constants: SystemConstants) -> Costs:
        """A machine's: measured where they were, else of its node."""
        rates, system = Rates.of(constants), constants.system
        group = system.fault_wait + system.fault_group + system.fault_block
        return cls(
            demand=rates.demand,
            leaf=min(LEAF / (group + system.fault + LEAF / system.on_demand), rates.demand),
            link=max(system.on_demand, rates.demand),
            evict=rates.to_host,
            back=rates.back,
            fetch=rates.to_device,
            fetch_call=rates.to_device_call,
            leave=rates.to_host,
            leave_call=rates.to_host_call,
            stream_in=constants.value("copy_bandwidth_h2d_pinned", system.on_demand),
            stream_out=constants.value("copy_bandwidth_d2h_pinned", system.on_demand_back),
            copy_call=system.copy_call,
            launch=system.launch,
        )

    def load(self, size: int, *, stays: bool = True) -> Load:
        """What a plan knows of a buffer; `stays` says whether the host keeps what comes to the device."""
        return Load(size, self.fetch_call + size / self.fetch, self.leave_call + size / self.leave, stays)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)
