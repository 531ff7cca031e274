"""Systems to compare placements with: all on the device, and managed memory with `cudaMemAdvise`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from octavo.advice.facts import Buffer, Placement

DEVICE, MANAGED, ADVISED, MODEL, OPTIMUM = "device", "managed", "advised", "model", "optimum"
SYSTEMS = {
    DEVICE: "all on the device, with copies",
    MANAGED: "all managed",
    ADVISED: "all managed, with cudaMemAdvise",
    MODEL: "the model's placements",
    OPTIMUM: "the fastest of all placements",
}
"""What is compared, and in words."""
PLACEMENTS: tuple[Placement, ...] = ("device", "managed")
"""What the publication places: on the device with copies, or on the host and by pages on demand."""


def hints(buffers: Iterable[Buffer], stored: set[str]) -> list[str]:
    """Managed memory with what CUDA's guide advises about each use; the publication does not list its hints.

    A buffer that kernels do not store to is read mostly. One that host and device write in turns stays on the host, and
    the device maps it. All others are preferred on the device.

    Args:
        buffers: of the program.
        stored: names of those that kernels store to.

    """
    said = []
    for buffer in buffers:
        key = f"program.buffers.{json.dumps(buffer.name)}"
        if buffer.name not in stored:
            said.append(f"{key}.read_mostly=true")
        elif buffer.write_shared:
            said += [f"{key}.preferred=host", f'{key}.accessed_by=["gpu0"]']
        else:
            said.append(f"{key}.preferred=gpu0")
    return said
