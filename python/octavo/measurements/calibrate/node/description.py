"""Values from the driver's description of a GPU: its clock and its multiprocessors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from octavo.measurements.calibrate.node.draft import LANES

if TYPE_CHECKING:
    from octavo.measurements.calibrate.node.draft import Draft

_RELEASE = r"[1-9][0-9]{2}(\.[0-9]+){0,2}"
"""Releases as NVIDIA numbers them."""


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
    """Their number, and what each of them holds."""
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
