"""Every dispatch that a study of GRIT's partition compares."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Dispatcher:
    """A way to split the work-groups of a launch over GPUs."""

    label: str
    value: str
    """What `node.dispatch` is set to."""

    @property
    def override(self) -> str:
        """The change to a scenario."""
        return f"node.dispatch={self.value}"


def _blocks(size: int) -> Dispatcher:
    return Dispatcher(f"blocks of {size}", f"{{blocks = {size}}}")


NAMED = tuple(
    Dispatcher(name, name)
    for name in ("even-split", "unit-multiples", "fill-first", "round-robin-units", "round-robin")
)
"""Dispatches with a source: the presets say which."""
BLOCKS = tuple(map(_blocks, (1024, 256, 16, 4)))
"""Units of dispatch between an equal share and one work-group; 64 are `round-robin-units` where a GPU has 64 units."""
DISPATCHERS = (*NAMED[:3], *BLOCKS[:2], NAMED[3], *BLOCKS[2:], NAMED[4])
"""All dispatches, from the largest contiguous parts to the smallest."""
