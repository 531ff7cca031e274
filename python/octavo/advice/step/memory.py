"""How much memory a step needs: PyTorch's caching allocator, run through all that the script asks it for."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from octavo import _core
from octavo.errors import AdviceError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octavo.advice.step.program import Program, Role

HOPPER_WORKSPACE = 32 << 20
WORKSPACE = (2 * 4096 + 8 * 16) << 10
"""Bytes that cuBLAS has for each thread that calls it, on compute capability 9.0 and on others: PyTorch's default, as
if `CUBLAS_WORKSPACE_CONFIG` were `:4096:8` and `:4096:2:16:8` (aten/src/ATen/cuda/CublasHandlePool.cpp,
`parseChosenWorkspaceSize`; cublasLt shares it). Measured in `transformer.py` on an H100: two of 33,554,432 bytes."""
_HOPPER = (9, 0)
_NAMED = {
    "hgx-h100": _HOPPER, "h100": _HOPPER, "h200": _HOPPER, "gh200": _HOPPER, "x86-h100": _HOPPER,
    "b200": (10, 0), "gb200": (10, 0), "gb300": (10, 3), "gb10": (12, 1), "dgx-v100": (7, 0),
    "power8-p100": (6, 0), "x86-p100": (6, 0), "gtx1080ti": (6, 1),
}  # fmt: skip
"""Compute capabilities of presets whose name does not tell it; NVIDIA's table of CUDA GPUs."""


@dataclass(frozen=True)
class Peak:
    """The most memory that a program has."""

    allocated: int
    """Bytes of blocks that are handed out, as `torch.cuda.max_memory_allocated` counts them."""
    reserved: int
    """Bytes of segments that the allocator holds, as `torch.cuda.max_memory_reserved` counts them."""
    step: int
    phase: str
    roles: Mapping[Role, int]
    """Bytes by role when most is allocated."""
    workspace: int
    fails: tuple[int, int, str] | None = None
    """Where memory ran out: bytes that were asked for, the step, and what the program did."""

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**vars(self), "roles": dict(self.roles)}


@dataclass(frozen=True)
class Story:
    """Blocks and events of a program, perhaps changed; places of events are those of the recording."""

    program: Program
    sizes: list[int]
    roles: list[Role]
    events: list[tuple[int, int]] = field(default_factory=list)
    """Place in the recording, and the event."""

    @classmethod
    def of(cls, program: Program, batch: int, workspace: int) -> Story:
        """As recorded, with workspaces of cuBLAS."""
        sizes, roles = program.blocks(batch), list(program.roles)
        if any(size <= 0 for size in sizes):
            raise AdviceError(
                f"{program.path}: expected blocks of at least one byte with {batch} samples",
                code="unexpected-value",
                file=program.path,
                key="batch",
            )
        events = list(enumerate(program.events))
        for place in reversed(program.products):
            events.insert(place, (place, len(sizes)))
            sizes.append(workspace)
            roles.append("workspace")
        return cls(program, sizes, roles, events)


def capability(node: str, measured: str | None = None) -> tuple[int, int]:
    """The compute capability of a node by its name, or as a machine file has it; that of an H100 if nothing tells."""
    if measured is not None and re.fullmatch(r"\d+\.\d+", measured):
        major, minor = measured.split(".")
        return int(major), int(minor)
    told = re.search(r"sm(\d+)(\d)", node)
    if told:
        return int(told[1]), int(told[2])
    name = node.rpartition("/")[2]
    return next((found for prefix, found in _NAMED.items() if name.startswith(prefix)), _HOPPER)


def workspace_of(capability: tuple[int, int]) -> int:
    """Bytes of a workspace of cuBLAS."""
    return HOPPER_WORKSPACE if capability == _HOPPER else WORKSPACE


def peak(story: Story, room: int | None = None) -> Peak:
    """The most memory that a program has, at most `room` of it in segments.

    Raises:
        AdviceError: the recording contradicts itself.

    """
    program = story.program
    events = [event for _, event in story.events]
    try:
        allocated, reserved = _core.caching_allocator(story.sizes, events, room)
    except (ValueError, OverflowError) as error:
        raise AdviceError(f"{program.path}: {error}", code="unexpected-value", file=program.path) from None
    at = max(range(len(allocated)), key=allocated.__getitem__, default=0)
    place = story.events[at][0] if story.events else 0
    fails = None
    if len(allocated) < len(events):
        where, block = story.events[len(allocated)]
        fails = story.sizes[block], program.step_of(where), program.phase(where)
    return Peak(
        allocated=max(allocated, default=0),
        reserved=max(reserved, default=0),
        step=program.step_of(place),
        phase=program.phase(place),
        roles=_roles(story, events[: at + 1]),
        workspace=sum(size for size, role in zip(story.sizes, story.roles, strict=True) if role == "workspace"),
        fails=fails,
    )


def _roles(story: Story, events: Sequence[int]) -> dict[Role, int]:
    live = set()
    for event in events:
        if event >= 0:
            live.add(event)
        else:
            live.discard(-1 - event)
    found: Counter[Role] = Counter()
    for block in live:
        found[story.roles[block]] += story.sizes[block]
    return dict(found)
