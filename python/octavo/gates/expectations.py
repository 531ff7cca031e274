"""What the values of a node add up to: rates in units a second, latencies in seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.measurements.calibrate.quantities import number
from octavo.quantities import count, cycle

if TYPE_CHECKING:
    from collections.abc import Mapping

LINE = 64
"""Bytes of a line of the simulated node."""
_LANES = 64
"""Threads of a wavefront."""
_FMA = 2
"""Operations of a fused multiply-add."""


class Promised:
    """What a node promises.

    Args:
        values: the table `node` of a scenario that is spelled out.

    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    @property
    def cycle(self) -> float:
        """Seconds of a cycle, which the simulator rounds to whole picoseconds."""
        return round(cycle(self.values["clock"])) * 1e-12

    def seconds(self, key: str) -> float:
        """Seconds of a number of cycles, 0 if it is left out."""
        found: Any = self.values
        for part in key.split("."):
            found = found.get(part, "0cycles")
        return float(count(found, "cycles")) * self.cycle

    @property
    def memory(self) -> float:
        """Bytes a second of a GPU's memory."""
        return float(self.values["dram"]["banks"]) * LINE / self.seconds("dram.line_cycles")

    @property
    def arithmetic(self) -> float:
        """Single-precision operations a second, without tensor cores."""
        compute = self.values["compute"]
        lanes = _LANES * int(compute["units"]) * int(compute["simds_per_unit"])
        return _FMA * lanes / self.seconds("compute.vector_alu.occupancy")

    @property
    def first_level(self) -> float:
        """Seconds of a load that the first-level cache serves."""
        return sum(map(self.seconds, ("compute.memory_pipeline", "l1_tlb.latency", "l1.latency")))

    @property
    def second_level(self) -> float:
        """Seconds of a load that the second-level cache serves."""
        before = ("compute.memory_pipeline", "l1_tlb.latency", "l1.lookup", "l1.fill")
        crossbar = 2 * self.seconds("l2.crossbar")
        return sum(map(self.seconds, before)) + crossbar + self.seconds("l2.latency") + self.cycle

    @property
    def beyond_caches(self) -> float:
        """Seconds of a load that memory serves."""
        return self.second_level + self.seconds("dram.latency") + self.seconds("dram.line_cycles")

    @property
    def to_gpu(self) -> float:
        """Bytes a second of copies of pinned memory from the host."""
        return self.rate("host_link.bandwidth")

    @property
    def to_host(self) -> float:
        """Bytes a second of copies to pinned memory of the host."""
        return self.rate("host_link.to_host") or self.to_gpu

    @property
    def lines_of_host(self) -> float:
        """Bytes a second of lines that a GPU reads from pinned memory: each has its header on the link."""
        return self._of_lines(self.to_gpu)

    @property
    def lines_of_peer(self) -> float:
        """Bytes a second of lines that GPU 0 and GPU 1 read from each other.

        They use links of their own or, if there are none, go through the host. Each direction carries the lines that
        one GPU reads and the requests of the other.
        """
        link, links = self.values["gpu_link"], self.values.get("links")
        between = [pair["count"] for pair in links or () if sorted(pair["gpus"]) == [0, 1]]
        rate = number(link["bandwidth"], "B/s") * (1 if links is None else sum(between))
        return self._of_lines(rate or min(self.to_gpu, self.to_host), headers=2)

    def _of_lines(self, rate: float, headers: int = 1) -> float:
        remote = self.values["remote"]
        return rate * LINE / (LINE + headers * number(remote.get("header", "0B"), "B"))

    def rate(self, key: str) -> float:
        """Bytes a second, 0 if the bandwidth is left out."""
        found: Any = self.values
        for part in key.split("."):
            found = found.get(part, "0B/s")
        return number(found, "B/s")
