"""The model's inputs: constants of a machine, and of each data structure."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

Toucher = Literal["host", "device"]

_EACH = 2**63 - 1
"""At least as many copies as faults, however many these are."""


@dataclass(frozen=True)
class AllocationCosts:
    """Seconds that memory of a kind costs to allocate and to free, both together."""

    call: float
    each: float = 0.0
    """Each piece."""
    below_chunk: float = 0.0
    """Of memory below 2 MiB, all pieces included; 0 if as of more."""

    def to_model(self) -> dict[str, str]:
        """The values in the model's form."""
        return {name: _time(value) for name, value in vars(self).items()}


@dataclass(frozen=True)
class System:
    """Constants of a machine; bytes, bytes a second, seconds."""

    peak: float
    """Arithmetic peak, operations a second."""
    device: float
    """Bandwidth of device memory."""
    on_demand: float
    """Bandwidth at which pages come over the interconnect."""
    copy: float
    """Bandwidth of bulk copies to the device."""
    copy_back: float
    """Bandwidth of bulk copies to the host."""
    on_demand_back: float
    """Bandwidth at which pages come back at faults of the host."""
    by_lines: float
    """Bandwidth, useful bytes a second, at which lines of pinned memory come."""
    multiprocessors: int
    warp: int
    """Lanes of a warp."""
    warps: int
    """Warps that fit a multiprocessor."""
    line: int
    """Bytes of a line."""
    latency: float
    """Latency of a line in host memory."""
    page: int
    """Bytes of a page."""
    capacity: int
    """Bytes of device memory."""
    fault_group: float
    """Serving a group of faults, besides each of them."""
    fault: float
    """Each fault of a group whose page comes from the host, besides its bytes."""
    made: float
    """Each fault of a group whose page is made on the device."""
    fault_stale: float
    """Each fault of a group whose page has come meanwhile."""
    prefetch: float
    """A copy by the driver's prefetcher, besides the fault's copy and without its bytes."""
    most_faults: int
    """Most faults of a group."""
    host_fault: float
    """A fault of the host on a page that the device has, besides the copy."""
    launch: float
    copy_call: float
    device_memory: AllocationCosts
    """Allocating and freeing device memory, by chunks of 2 MiB."""
    pinned_memory: AllocationCosts
    """Allocating and freeing pinned memory, by 4 KiB, clearing not counted."""
    managed_memory: AllocationCosts
    """Allocating and freeing managed memory, its pages not counted."""
    first_touch: float
    """The host's first touch of a page, besides clearing it."""
    zeroing: float
    """The rate at which the host clears pages."""
    unmap: float
    """Giving a page of the host back."""

    def told(self) -> Iterator[tuple[str, str, float]]:
        """The values for people, each with its constant and its own name: bytes, bytes a second, seconds."""
        for name, value in vars(self).items():
            if isinstance(value, AllocationCosts):
                yield from ((name, f"{name}.{part}", of_part) for part, of_part in vars(value).items())
            else:
                yield name, name, value

    def to_model(self) -> dict[str, Any]:
        """The values in the model's form."""
        return {
            "roofline": {
                "peak": self.peak,
                **{name: _bandwidth(getattr(self, name)) for name in ("device", "on_demand", "copy")},
            },
            "by_lines": _bandwidth(self.by_lines),
            "back": {"copy": _bandwidth(self.copy_back), "on_demand": _bandwidth(self.on_demand_back)},
            **{name: getattr(self, name) for name in ("multiprocessors", "warp", "warps")},
            **{name: _bytes(getattr(self, name)) for name in ("line", "page", "capacity")},
            "latency": _time(self.latency),
            "faults": {
                "group": _time(self.fault_group),
                "fault": _time(self.fault),
                "made": _time(self.made),
                "stale": _time(self.fault_stale),
                "prefetch": _time(self.prefetch),
                "most": self.most_faults,
                "host": _time(self.host_fault),
            },
            "calls": {
                "launch": _time(self.launch),
                "copy": _time(self.copy_call),
                "device": self.device_memory.to_model(),
                "pinned": self.pinned_memory.to_model(),
                "managed": self.managed_memory.to_model(),
                "first_touch": _time(self.first_touch),
                "unmap": _time(self.unmap),
                "zeroing": _bandwidth(self.zeroing),
            },
        }


@dataclass(frozen=True)
class Structure:
    """Constants of one data structure; bytes unless said otherwise."""

    size: int
    lines: int
    """Lines that cross the interconnect if it is pinned: each miss of all caches of the device."""
    sigma: float = 1.0
    """Share of its pages that the device touches; above 0, at most 1."""
    rho: float = 1.0
    """Migrations over distinct pages requested; at least 1."""
    alpha: float = 1.0
    """Operations for each byte touched."""
    occupancy: float = 1.0
    """Resident warps over those that fit; above 0, at most 1."""
    required: float | None = None
    """Bytes a second that one multiprocessor asks for; what the roofline allows it if left out."""
    fault_concurrency: int = 1
    """Distinct pages that faults in flight wait for."""
    prefetched_pages: int = 0
    """Pages that come without a fault of their own."""
    prefetches: int = 0
    """Copies that bring them from the host, each of as many as lie side by side."""
    stale_faults: int = 0
    """Of its faults, those whose page has come by the time that they are served."""
    fault_runs: int | None = None
    """Copies that bring the pages of its faults, each of as many as lie side by side; one a fault if left out."""
    first: Toucher = "host"
    """The processor that touches its pages first."""
    host_faults: int | None = None
    """Faults of the host as it goes through all of it, with its pages elsewhere; one a page of 4 KiB if left out."""
    returned: int = 0
    """Bytes that come back page by page when the host touches it after the device."""
    return_faults: int = 0
    """Faults of the host that bring it back."""
    return_prefetches: int = 0
    """Copies that the driver's prefetcher adds to theirs."""
    write_shared: bool = False
    """Host and device write it in concurrent or near phases: pages on demand thrash."""
    thrashing: float = 0.0
    """Seconds that its faults are held up in all because it thrashes."""
    copied_in: int = 0
    """What the host copies to the device if it is device-placed."""
    copied_out: int = 0
    copies: int = 0
    """Calls that copy."""
    seen_by_host: bool = True
    """Whether the host ever touches it."""

    def to_model(self) -> dict[str, Any]:
        """The values in the model's form."""
        sizes = {name: _bytes(getattr(self, name)) for name in ("size", "lines", "copied_in", "copied_out")}
        required = None if self.required is None else _bandwidth(self.required)
        host_faults = -(-self.size // 4096) if self.host_faults is None else self.host_faults
        times = {"thrashing": _time(self.thrashing), "required": required}
        told = asdict(self)
        told["fault_runs"] = _EACH if self.fault_runs is None else self.fault_runs
        returns = {
            "bytes": _bytes(told.pop("returned")),
            "faults": told.pop("return_faults"),
            "prefetches": told.pop("return_prefetches"),
        }
        return {**told, **sizes, **times, "host_faults": host_faults, "returns": returns}


def _bytes(count: float) -> str:
    return f"{round(count)}B"


def _bandwidth(rate: float) -> str:
    return f"{round(rate)}B/s"


def _time(seconds: float) -> str:
    return f"{round(seconds * 1e12)}ps"
