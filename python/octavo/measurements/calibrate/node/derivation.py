"""From measured values to a simulated node: each value follows from what the simulator adds up; none is fitted.

`docs/calibrate.md` explains where each value comes from, and what the simulated node cannot express.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from octavo.measurements.calibrate import patterns
from octavo.measurements.calibrate.node import description
from octavo.measurements.calibrate.node.draft import Derived, Draft
from octavo.measurements.calibrate.probes import PROBES
from octavo.measurements.calibrate.probes.probe import Stage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octavo.measurements.calibrate.measurement import Measured

PRESETS = {9: "cuda-sm90", 8: "cuda-sm80", 7: "cuda-sm70"}
"""By the major number of the compute capability; older GPUs take the oldest, newer ones the newest."""


@dataclass(frozen=True)
class DerivedNode:
    """A node for a machine file."""

    preset: str
    """What it extends."""
    values: Sequence[Derived]
    kept: Mapping[str, str]
    """Keys that stay as in the preset although a probe or the driver could provide them, each with the reason."""

    @property
    def text(self) -> str:
        """The table `[node]`, with the origin of each value."""
        lines = [
            "# What `octavo run --node` reads. Everything that is not named here is not measured and stays as in the",
            f"# preset {self.preset}, where each value has its source; `octavo list nodes` prints it.",
            *(f"# Kept: {key}, since {reason}." for key, reason in self.kept.items()),
            "[node]",
            f'extends = "{self.preset}"',
            *(f"{value.key} = {_toml(value.value)}  # {value.source}" for value in self.values),
        ]
        return "\n".join(lines) + "\n"


def derive(gpu: Mapping[str, Any], measured: Mapping[str, Measured]) -> DerivedNode:
    """The node of a machine.

    Args:
        gpu: the GPU as its driver describes it (`octavo._core.gpu_describe`), with `gpus`, how many there are.
        measured: values by name, as `octavo calibrate` measures them; any may be missing.

    Raises:
        OctavoError: such a node cannot be simulated; the message names the value.

    """
    draft = Draft(preset_for(str(gpu.get("compute_capability", ""))), gpu, measured)
    description.clock(draft)
    description.release(draft)
    description.multiprocessors(draft)
    for stage in Stage:
        for probe in PROBES.values():
            if stage in probe.node:
                probe.node[stage](draft)
    patterns.Node(draft.preset, draft.changes).scenario({}, {})
    return DerivedNode(draft.preset, list(draft.values.values()), draft.kept)


def preset_for(capability: str) -> str:
    """The preset of an architecture, by its compute capability such as `9.0`."""
    major = capability.partition(".")[0]
    newest, oldest = max(PRESETS), min(PRESETS)
    number = int(major) if major.isdigit() else newest
    return PRESETS[min(max(number, oldest), newest)]


def _toml(value: int | str) -> str:
    return str(value) if isinstance(value, int) else f'"{value}"'
