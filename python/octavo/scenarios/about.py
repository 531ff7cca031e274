"""How far results on a node can be trusted: comparisons, what is not simulated, values without a source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_SEE = "docs/nodes.md#what-has-been-measured"
"""The page that lists which nodes were compared with what."""
_NAMELESS = "of a file or scenario"
_MEMORY = "capacity."
"""The beginnings of keys that results show anyway."""
_SHOWN = 3
"""The most changed keys that a sentence names."""


@dataclass(frozen=True)
class About:
    """Facts about the node of a resolved scenario."""

    name: str | None
    """The preset, or the name of the node in a file; None for others."""
    compared: str | None
    """What results on it were compared with; empty if there is nothing."""
    see: str
    """The page and heading with more about it."""
    not_modelled: tuple[str, ...]
    """Features of the real machine that decide results and are not simulated."""
    chosen: tuple[str, ...]
    """Keys of the node whose values have no source."""
    changed: tuple[str, ...]
    """Keys that the scenario changes in the node."""

    @property
    def brief(self) -> str:
        """The node and whether it was compared with a real one, for titles of pictures."""
        return f"{self.name or f'a node {_NAMELESS}'}, {self._comparison}{', but changed' * self._is_other}"

    @property
    def sentence(self) -> str:
        """Whether it was compared, and where; and what is not simulated."""
        said = f"node {self.name or _NAMELESS}: {self._comparison} ({self.see})"
        if self._is_other:
            said += f", but not with what is changed here: {listed(self._changed)}"
        return f"{said}. Not modelled: {'; '.join(self.not_modelled)}." if self.not_modelled else f"{said}."

    @property
    def _comparison(self) -> str:
        return f"compared with {self.compared}" if self.compared else "not compared with a real machine"

    @property
    def _is_other(self) -> bool:
        """Whether the compared node differs from the one that ran."""
        return bool(self.compared and self._changed)

    @property
    def _changed(self) -> tuple[str, ...]:
        return tuple(key for key in self.changed if not key.startswith(_MEMORY))

    def to_dict(self) -> dict[str, Any]:
        """The document for JSON; `scenario.toml` of a result has all chosen keys."""
        return {
            "name": self.name,
            "compared": self.compared,
            "see": self.see,
            "changed": list(self.changed),
            "not_modelled": list(self.not_modelled),
        }


def about(values: Mapping[str, Any]) -> About:
    """Say how far results on the node of a scenario can be trusted.

    Args:
        values: a scenario that is spelled out.

    """
    found = values["node"].get("about", {})
    lists = (tuple(found.get(key, ())) for key in ("not_modelled", "chosen", "changed"))
    return About(found.get("name"), found.get("compared"), found.get("see", _SEE), *lists)


def listed(keys: tuple[str, ...]) -> str:
    """The first few keys, and how many more there are."""
    more = f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
    return ", ".join(keys[:_SHOWN]) + more
