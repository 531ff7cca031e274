"""How a watched program ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo.measurements.profile.program import status_of

if TYPE_CHECKING:
    import resource
    from collections.abc import Sequence


@dataclass(frozen=True)
class Ending:
    """How a program ended."""

    code: int
    """Its exit status, or minus the signal that killed it."""
    used: resource.struct_rusage
    """Its resource usage, including children that it waited for."""
    span: int
    """Nanoseconds until the last sample, after the end of the program and of its daemons."""
    signals: Sequence[int]
    """Signals that came meanwhile."""

    @property
    def status(self) -> int:
        """Its exit status in the numbering of shells: 128 plus the signal if one killed it."""
        return status_of(self.code)

    @property
    def killed_by(self) -> int | None:
        """The signal that killed it; it differs from every exit status of its own."""
        return -self.code if self.code < 0 else None
