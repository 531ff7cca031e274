"""The GPU's clock, its multiprocessors, how fast they calculate, and what a launch costs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from octavo.measured.calibrate.node.draft import Draft

LANES = 64
"""Threads of a wavefront: two warps."""
_RELEASE = r"[1-9][0-9]{2}(\.[0-9]+){0,2}"
"""Releases as NVIDIA numbers them."""
_FMA = 2
"""Operations of a fused multiply-add."""


def clock(draft: Draft) -> None:
    """The clock comes first: all cycles are counted in it."""
    if (kilohertz := draft.described("clock_khz", "clock")) is not None:
        draft.put("clock", f"{kilohertz}kHz", "the driver's clock_khz, the highest there is")


def release(draft: Draft) -> None:
    """The driver's release, which selects what changed with releases."""
    found = str(draft.gpu.get("driver") or "")
    if re.fullmatch(_RELEASE, found):
        draft.put("driver.release", found, "what the driver says of itself")


def multiprocessors(draft: Draft) -> None:
    """How many there are, and what each holds."""
    simds = draft.count("compute.simds_per_unit")
    if (gpus := draft.described("gpus", "gpus")) is not None:
        draft.put("gpus", min(gpus, 16), "GPUs in the machine, all taken to be alike")
    if (units := draft.described("multiprocessors", "compute.units")) is not None:
        draft.put("compute.units", units, "the driver's multiprocessors")
    if (threads := draft.described("threads_per_multiprocessor", "compute.wavefronts_per_simd")) is not None:
        source = f"the driver's threads_per_multiprocessor {threads}, {LANES} a wavefront, {simds} partitions"
        draft.put("compute.wavefronts_per_simd", max(1, threads // LANES // simds), source)
    if (registers := draft.described("registers_per_multiprocessor", "compute.vector_registers")) is not None:
        source = f"the driver's registers_per_multiprocessor {registers}, {LANES} lanes, {simds} partitions"
        draft.put("compute.vector_registers", registers // LANES // simds, source)
    if (shared := draft.described("shared_bytes_per_multiprocessor", "compute.local_data")) is not None:
        draft.put("compute.local_data", f"{shared}B", "the driver's shared_bytes_per_multiprocessor")


def arithmetic(draft: Draft) -> None:
    """Cycles that a partition takes for 64 multiply-adds, and until the next that needs them."""
    key = "compute.vector_alu"
    if (peak := draft.number("peak_fp32", f"{key}.occupancy")) is None:
        return
    lanes = draft.count("compute.units") * draft.count("compute.simds_per_unit") * LANES
    occupancy = max(1, round(lanes * _FMA / (peak * draft.cycle)))
    named = draft.named("peak_fp32")
    # The second of two warps begins as many cycles later as the first occupies the partition.
    latency = draft.count(f"{key}.latency") + (occupancy - draft.count(f"{key}.occupancy")) // 2
    draft.put_cycles(f"{key}.occupancy", occupancy, f"measured {named}: {lanes} lanes, two operations each")
    draft.put_cycles(f"{key}.latency", max(latency, occupancy), "the preset's, with that occupancy")


def launch(draft: Draft) -> None:
    """What each further launch in a row takes."""
    key = "compute.kernel_overhead"
    if (seconds := draft.number("launch_stream", key)) is None:
        return
    cycles = max(0, draft.cycles(seconds) - draft.count("compute.group_launch"))
    draft.put_cycles(key, cycles, f"measured {draft.named('launch_stream')}, less compute.group_launch")
