"""The part of a run's folder that distinguishes it from other runs in a report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Named:
    """A run with a name, which may not be enough to identify it."""

    folder: Path
    group: str
    variant: str
    placement: str
    machine: tuple[str, ...]
    """Differences between nodes that names leave out; empty if there are none, or if the machine is unknown."""

    def folder_among(self, runs: Sequence[Named]) -> str:
        """The shortest end of the folder's path that no similar run shares; may be empty.

        Similar runs have the same name, or ran on other machines.
        """
        others = [one for one in runs if one is not self and (self._is_named_as(one) or self._is_elsewhere(one))]
        if not others:
            return ""
        own, theirs = self._places, [one._places for one in others]
        lengths = range(1, len(own) + 1)
        enough = next((length for length in lengths if all(own[-length:] != one[-length:] for one in theirs)), 1)
        return str(Path(*self.folder.parts[-enough:]))

    def _is_named_as(self, other: Named) -> bool:
        return (self.group, self.variant) == (other.group, other.variant)

    def _is_elsewhere(self, other: Named) -> bool:
        return bool(self.machine and other.machine) and self.machine != other.machine

    @property
    def _places(self) -> list[str]:
        """The parts of the path. Workload and placement, which names contain already, do not distinguish machines."""
        said = {self.group.partition(" ")[0]: "workload", self.placement: "placement"}
        return [f"<{said[part]}>" if part in said else part for part in self.folder.parts]
