"""A machine that exists in numbers alone: samples of every series from known constants, with noise from a seed.

It computes what ideal probes would measure; fits have to find the constants again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from octavo.measurements.activity import LAYOUTS
from octavo.measurements.calibrate.columns import COMMON, PARAMETERS
from octavo.measurements.calibrate.fits.fetches import GOLDEN, PAGE_BYTES, PAGES
from octavo.measurements.calibrate.probes import PROBES
from octavo.measurements.calibrate.probes.unified import DUPLICATION_PHASES, HINTS, PHASES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SIZES = [4 * KIB << (2 * step) for step in range(9)]  # 4 KiB to 256 MiB
LINE = 128

Row = dict[str, Any]


def records() -> bytes:
    """A migration of 64 KiB that a fault caused, and the fault; as real ones, the first names the GPU alone."""
    found = np.zeros(2, LAYOUTS["v3"])
    found["kind"], found["start"], found["end"], found["address"] = 25, 1000, 6000, 2 * MIB
    found["counterKind"], found["value"], found["flags"] = (1, 4), (64 * KIB, 1), (2, 1)
    return found.tobytes()


ACTIVITY = {"cupti": 130001, "layout": "v3", "records": records(), "dropped": 0}


@dataclass
class Model:
    """Constants of the machine, in seconds, bytes and bytes a second."""

    copy: dict[tuple[str, str], tuple[float, float]] = field(
        default_factory=lambda: {
            ("h2d", "pinned"): (1.8e-6, 55.2e9),
            ("d2h", "pinned"): (2.1e-6, 54.1e9),
            ("h2d", "pageable"): (4.4e-6, 11.3e9),
            ("d2h", "pageable"): (5.2e-6, 9.7e9),
        }
    )
    both: tuple[float, float] = (3.5e-6, 98e9)
    issue: float = 1.1e-6
    hidden: float = 0.93
    launch: dict[str, tuple[float, float]] = field(
        default_factory=lambda: {"stream": (4.1e-6, 2.2e-6), "graph": (6.3e-6, 0.7e-6)}
    )
    stream: float = 4.1e12
    l1: tuple[int, float] = (192 * KIB, 18e-9)
    l2: tuple[int, float] = (48 * MIB, 130e-9)
    l2_rate: float = 14e12
    memory_latency: float = 310e-9
    tlb_entries: int = 256
    tlb_page: int = 2 * MIB
    tlb_miss: float = 160e-9
    random_replacement: bool = False
    """Whether caches hold a share of what is too large for them, or nothing of it (LRU)."""
    peak: dict[str, float] = field(default_factory=lambda: {"fp32": 62e12, "int32": 31e12})
    saturating: dict[str, int] = field(default_factory=lambda: {"fma": 8, "load": 32})
    zero_copy: dict[str, float] = field(default_factory=lambda: {"sequential": 50e9, "strided": 7e9, "random": 3.1e9})
    fault_group: float = 22e-6
    fault_page: float = 3.2e-6
    demand: float = 9.6e9
    touch_fault: float = 25e-6
    touch_bandwidth: float = 14e9
    prefetch: tuple[float, float] = (30e-6, 44e9)
    roofline: tuple[float, float, float] = (60e12, 3.6e12, 9e9)
    peer: tuple[float, float] = (2.5e-6, 260e9)

    def chase(self, footprint: int, stride: int) -> float:
        """Seconds of one load of a chain through `footprint` bytes, `stride` apart."""
        held = footprint * LINE / max(stride, LINE)
        levels = [self.l1, self.l2, (1 << 60, self.memory_latency)]
        latency, left = 0.0, 1.0
        for capacity, seconds in levels:
            share = min(1.0, capacity / held) if self.random_replacement else float(held <= capacity)
            latency += left * share * seconds
            left *= 1 - share
        pages = footprint / max(stride, self.tlb_page)
        latency += self.tlb_miss * (pages > self.tlb_entries)
        within = min(1.0, stride / LINE)
        return within * latency + (1 - within) * self.l1[1]


@dataclass
class SyntheticGpu:
    """An engine whose probes sample the model; `broken` probes fail, `on_step` is told of each step."""

    model: Model = field(default_factory=Model)
    seed: int = 1
    noise: float = 0.01
    gpus: int = 1
    driver: str = "595.45.04"
    broken: dict[str, Exception] = field(default_factory=dict)
    on_step: Callable[[str, int], None] = lambda probe, done: None
    measured: list[str] = field(default_factory=list)
    """Probes that were run."""
    free: int = 79 * GIB
    nvrtc: str | None = "12.9"

    def probes(self) -> list[Row]:
        return [{"name": name, "title": name, "about": name, "source": f"// {name}", "digest": name} for name in PROBES]

    def describe(self) -> list[Row]:
        return [
            {
                "index": index,
                "name": "Synthetic 1",
                "uuid": f"GPU-{index}",
                "compute_capability": "9.0",
                "memory_bytes": 80 * GIB,
                "free_bytes": self.free,
                "l2_bytes": 50 * MIB,
                "driver": self.driver,
                "cuda": "13.0",
                "nvrtc": self.nvrtc,
            }
            for index in range(self.gpus)
        ]

    def host(self, pci_bus_id: str) -> Row:
        return {"host": "Synthetic CPU", "page_bytes": 4096}

    def measure(self, probe: str, gpu: int, *, quick: bool, progress: Callable[[int, int, str], None]) -> Row:
        self.measured.append(probe)
        for done in range(3):
            progress(done, 3, probe)
            self.on_step(probe, done)
        if probe in self.broken:
            raise self.broken[probe]
        rng = np.random.default_rng([self.seed, *probe.encode()])
        return {
            "columns": _columns(self._repeated(probe, rng, 3 if quick else 7)),
            "skipped": [],
            "activity": ACTIVITY if probe == "managed" else None,
        }

    def _repeated(self, probe: str, rng: np.random.Generator, repetitions: int) -> Iterator[Row]:
        for row in _series(self, probe):
            for repetition in range(repetitions):
                seconds = row.get("seconds")
                disturbed = seconds and seconds * math.exp(rng.normal(0, self.noise))
                yield row | {"repetition": repetition, "seconds": disturbed}


def _series(gpu: SyntheticGpu, probe: str) -> Iterator[Row]:
    unified = {"managed": unified_rows, "system": unified_rows}
    makers = {
        "copies": copies_rows,
        "launches": launches_rows,
        "memory": memory_rows,
        "arithmetic": arithmetic_rows,
        "zero_copy": zero_copy_rows,
        "roofline": roofline_rows,
        "peers": lambda model: peers_rows(model, gpu.gpus),
    }
    return (makers | unified)[probe](gpu.model)


def _columns(rows: Iterator[Row]) -> dict[str, list[Any]]:
    listed = list(rows)
    names = [name for name in {**COMMON, **PARAMETERS, "copy_seconds": None} if any(name in row for row in listed)]
    return {name: [row.get(name) for row in listed] for name in dict.fromkeys([*COMMON, *names])}


def line(cost: tuple[float, float], amount: int) -> float:
    return cost[0] + amount / cost[1]


def copies_rows(model: Model) -> Iterator[Row]:
    for (direction, memory), cost in model.copy.items():
        for size in SIZES:
            common = {"direction": direction, "size": size, "bytes": size, "count": 1}
            yield {"series": "copy", "memory": memory, **common, "seconds": line(cost, size)}
            if memory == "pinned":
                yield {"series": "copy_issue", **common, "seconds": model.issue}
    for size in SIZES:
        yield {"series": "copy_both", "size": size, "bytes": 2 * size, "seconds": line(model.both, 2 * size)}
    for direction in ("h2d", "d2h"):
        copy = line(model.copy[direction, "pinned"], SIZES[-1])
        kernel = 1.4 * copy
        for what, seconds in {"kernel": kernel, "copy": copy, "both": kernel + copy * (1 - model.hidden)}.items():
            row = {"series": "copy_overlap", "what": what, "direction": direction, "size": SIZES[-1]}
            yield {**row, "bytes": SIZES[-1], "seconds": seconds}


def launches_rows(model: Model) -> Iterator[Row]:
    for how, (start, each) in model.launch.items():
        for count in (1, 4, 16, 64, 256, 1024):
            yield {"series": "launch", "how": how, "count": count, "seconds": start + count * each}
        yield {"series": "launch_wait", "how": how, "count": 1, "seconds": start + each}


def footprints() -> list[int]:
    """Four an octave, from 4 KiB to 8 GiB."""
    return [int(4 * KIB * 2 ** (step / 4)) // 4096 * 4096 for step in range(85)]


def memory_rows(model: Model) -> Iterator[Row]:
    for operation in ("copy", "scale", "add", "triad"):
        for size in (64 * MIB, 1 * GIB):
            yield {
                "series": "stream",
                "operation": operation,
                "size": size,
                "bytes": size,
                "seconds": size / model.stream,
            }
    for stride in (16, 32, 64, 128, 256, 64 * KIB, 512 * KIB, 2 * MIB, 4 * MIB, 8 * MIB):
        for footprint in dict.fromkeys(footprints()):
            if footprint >= 2 * stride:
                seconds = 1024 * model.chase(footprint, stride)
                yield {"series": "chase", "footprint": footprint, "stride": stride, "count": 1024, "seconds": seconds}
    for width in (4, 8, 16):
        for touched in (32, 64, 128):
            for footprint in (32 * MIB, 1 * GIB):
                rate = model.l2_rate if footprint < model.l2[0] else model.stream
                row = {"series": "random_lines", "footprint": footprint, "width": width, "line": touched}
                yield {**row, "bytes": 32 * MIB, "seconds": 32 * MIB / (rate * touched / 256)}


def saturating(warps: int, needed: int) -> float:
    return min(1.0, warps / needed)


def arithmetic_rows(model: Model) -> Iterator[Row]:
    for kind, rate in model.peak.items():
        yield {"series": "peak", "type": kind, "count": 10**9, "seconds": 1e9 / rate}
    for what, needed in model.saturating.items():
        for warps in (1, 2, 4, 8, 16, 32, 48, 64):
            rate = 1e12 * saturating(warps, needed)
            yield {"series": "occupancy", "what": what, "warps": warps, "count": 10**9, "seconds": 1e9 / rate}


def zero_copy_rows(model: Model) -> Iterator[Row]:
    for operation in ("read", "write"):
        for pattern, rate in model.zero_copy.items():
            for width in (4, 8, 16):
                for warps in (1, 8, 64, 256, 1024, 4096):
                    for stride in (128, 4096) if pattern == "strided" else (width,):
                        row = {"series": "zero_copy", "operation": operation, "pattern": pattern, "width": width}
                        seconds = 64 * MIB / (rate * width / 16 * saturating(warps, 256))
                        yield {**row, "warps": warps, "stride": stride, "bytes": 64 * MIB, "seconds": seconds}


def unified_rows(model: Model) -> Iterator[Row]:
    sizes = [4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB]
    for size in sizes:
        for by in ("gpu", "cpu"):
            yield {"series": "first_touch", "by": by, "size": size, "bytes": size, "seconds": size / 20e9}
        for direction in ("to_gpu", "to_cpu"):
            yield {"series": "prefetch", "direction": direction, "size": size, "bytes": size} | {
                "seconds": line(model.prefetch, size)
            }
            yield from demand_rows(model, direction, size)
    yield from step_rows(model)
    for size in sizes[:2]:
        for hint in HINTS:
            for phase in PHASES:
                yield {
                    "series": "advise",
                    "hint": hint,
                    "phase": phase,
                    "size": size,
                    "bytes": size,
                    "seconds": size / 8e9,
                }
        for phase in DUPLICATION_PHASES:
            yield {"series": "duplication", "phase": phase, "size": size, "bytes": size, "seconds": size / 9e9}
        for side, each in {"gpu": 2e-6, "cpu": 3e-6}.items():
            for turn in range(4):
                pages = size // 4096
                row = {"series": "ping_pong", "side": side, "round": turn, "pages": pages, "size": size, "bytes": size}
                yield {**row, "seconds": pages * each * (0.2 if turn == 0 else 1)}


def demand_rows(model: Model, direction: str, size: int) -> Iterator[Row]:
    common = {"series": "demand", "direction": direction, "size": size}
    for blocks in (1, 2, 4, 16, 64):
        for pattern in ("sequential", "random"):
            seconds = size / (model.demand * saturating(blocks, 16))
            row = {"pattern": pattern, "stride": 4096, "blocks": blocks, "pages": size // 4096, "bytes": size}
            yield {**common, **row, "seconds": seconds}
        for stride in (64 * KIB, 2 * MIB):
            pages = size // stride
            seconds = math.ceil(pages / blocks) * model.fault_group + pages * model.fault_page
            row = {"pattern": "strided", "stride": stride, "blocks": blocks, "pages": pages, "bytes": pages * 4096}
            yield {**common, **row, "seconds": seconds}


def step_rows(model: Model, size: int = 8 * MIB) -> Iterator[Row]:
    faults = {}
    for block in range(size // (2 * MIB)):
        at = block * PAGES
        for fetched in GOLDEN:
            faults[at] = fetched
            at += fetched // PAGE_BYTES
    for page in range(size // PAGE_BYTES):
        seconds = 0.7e-6
        if page in faults:
            seconds += model.touch_fault + faults[page] / model.touch_bandwidth
        yield {"series": "step", "page": page, "size": size, "bytes": 4096, "seconds": seconds}
    yield from random_step_rows(model, size)


def random_step_rows(model: Model, size: int) -> Iterator[Row]:
    """Every 40th touch faults, which makes 13 in each block, the first one of them at once."""
    for order in range(size // PAGE_BYTES):
        block, within = divmod(order, PAGES)
        page = block * PAGES + within * 181 % PAGES
        seconds = 0.9e-6 + (model.touch_fault if within % 40 == 0 else 0)
        yield {"series": "step_random", "page": page, "order": order, "size": size, "seconds": seconds}


def roofline_rows(model: Model) -> Iterator[Row]:
    peak, device, host = model.roofline
    size = 256 * MIB
    for placement, bandwidth in {"device": device, "host": host}.items():
        for sigma in (1 / 64, 1 / 16, 1 / 4, 1.0):
            for alpha in [2.0**power for power in range(-2, 9)]:
                for rho in (1, 2, 4, 8):
                    operations = int(alpha * size * sigma)
                    reached = min(peak, alpha * bandwidth / (rho if placement == "host" else 1))
                    row = {"series": "roofline", "placement": placement, "sigma": sigma, "alpha": alpha, "rho": rho}
                    copied = size / 55e9 if placement == "device" else None
                    row |= {"bytes": size, "count": operations, "copy_seconds": copied}
                    yield {**row, "seconds": operations / reached}
                    if (placement, sigma, rho) == ("host", 1 / 16, 1):
                        yield {**row, "series": "roofline_scattered", "seconds": 3 * operations / reached}


def peers_rows(model: Model, gpus: int) -> Iterator[Row]:
    for source in range(gpus):
        for target in range(gpus):
            if source == target:
                continue
            pair = {"source": source, "target": target}
            yield {"series": "topology", **pair, "access": 1, "rank": 0, "atomics": 1}
            for size in SIZES:
                for both in (0, 1):
                    amount = size * (1 + both)
                    row = {"series": "peer_copy", **pair, "size": size, "both": both, "bytes": amount}
                    yield {**row, "seconds": line(model.peer, amount)}
            for pattern in ("sequential", "random"):
                yield {
                    "series": "peer_load",
                    **pair,
                    "pattern": pattern,
                    "bytes": 64 * MIB,
                    "seconds": 64 * MIB / 200e9,
                }
