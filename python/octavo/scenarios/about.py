"""How far results on a node can be trusted: comparisons, what is not simulated, values without a source."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from octavo.scenarios import memory_system
from octavo.scenarios.driver import driver

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_SEE = "docs/nodes.md#what-has-been-measured"
"""The page that lists which nodes were compared with what."""
_NAMELESS = "of a file or scenario"
_DISCRETE, _COHERENT = ("stock-driver",), ("grace-hopper", "one-memory")
"""Memory systems of NVIDIA's driver."""
_MEMORY = "capacity."
"""The beginnings of keys that results show anyway."""
_SHOWN = 3
"""Changed keys, memory systems and nodes that a sentence names."""


@dataclass(frozen=True)
class About:
    """What scenarios that are spelled out say of their node."""

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
    """Keys that the scenario gives beside the node."""
    driver: str
    """The release of its driver and what it selected, or `none`."""
    memories: tuple[str, ...]
    """The memory systems that ran on it, by name."""
    own: bool
    """Whether they are the node's own."""

    @property
    def brief(self) -> str:
        """The node, the memory system and whether it was validated, in a line below pictures."""
        return f"{self._named}: {self._verdict}{', but changed' * bool(self._differs)} ({self.see})"

    @property
    def sentence(self) -> str:
        """Whether it was validated, and where; then what is not simulated."""
        driver = "" if self.driver == "none" else f", driver {self.driver}"
        said = f"node {self._named}{driver}: {self._verdict} ({self.see})"
        if self._differs:
            said += f", but not with what is changed here: {listed(self._differs)}"
        return f"{said}. Not modelled: {'; '.join(self.not_modelled)}." if self.not_modelled else f"{said}."

    @property
    def _named(self) -> str:
        return f"{self.name or _NAMELESS}, memory {listed(self.memories)}"

    @property
    def validated(self) -> bool:
        """Whether what ran was compared with measurements or another simulator: publications say too little for it."""
        return bool(self.compared) and not self._is_published and not self._differs

    @property
    def _verdict(self) -> str:
        if self._is_published:
            return f"not validated, compared with {self.compared}"
        return f"validated against {self.compared}" if self.compared else "not validated"

    @property
    def _is_published(self) -> bool:
        return bool(self.compared and self.compared.startswith("published"))

    @property
    def _differs(self) -> tuple[str, ...]:
        """What ran and was not compared, where something was."""
        if not self.compared:
            return ()
        keys = tuple(key for key in self.changed if not key.startswith(_MEMORY))
        return keys if self.own else (*keys, "memory")

    def to_dict(self) -> dict[str, Any]:
        """The document for JSON; `scenario.toml` of a result has all chosen keys."""
        return {
            "name": self.name,
            "memory": list(self.memories),
            "driver": self.driver,
            "validated": self.validated,
            "compared": self.compared,
            "see": self.see,
            "changed": list(self.changed),
            "not_modelled": list(self.not_modelled),
            "sentence": self.sentence,
        }


def about(values: Mapping[str, Any]) -> About:
    """Say how far results on the node of a scenario can be trusted.

    Args:
        values: a scenario that is spelled out.

    """
    node, memory = values["node"], values["memory"]
    found = node.get("about", {})
    not_modelled, chosen, changed = (tuple(found.get(key, ())) for key in ("not_modelled", "chosen", "changed"))
    name = memory_system.name(memory)
    return About(
        name=found.get("name"),
        compared=found.get("compared"),
        see=found.get("see", _SEE),
        not_modelled=not_modelled,
        chosen=chosen,
        changed=changed,
        driver=driver(values),
        memories=(name,),
        own=_is_own(node, name),
    )


def _is_own(node: Mapping[str, Any], name: str) -> bool:
    """Whether a memory system is what NVIDIA's driver has on a node; of others, nothing is known."""
    if node["driver"].get("release", "none") == "none":
        return True
    return name in (_COHERENT if "coherence" in node else _DISCRETE)


def together(nodes: Iterable[About]) -> dict[About, list[About]]:
    """Each node once, with all memory systems that ran on it, and what it was made of."""
    alike: dict[About, list[About]] = {}
    for node in nodes:
        alike.setdefault(replace(node, memories=(), own=True), []).append(node)
    return {
        replace(
            node,
            memories=tuple(dict.fromkeys(name for one in of for name in one.memories)),
            own=all(one.own for one in of),
        ): of
        for node, of in alike.items()
    }


def briefs(scenarios: Iterable[Mapping[str, Any]]) -> str:
    """What pictures of scenarios that are spelled out say below: each node, its memory systems, whether validated."""
    return brief(map(about, scenarios))


def brief(nodes: Iterable[About]) -> str:
    """The same of nodes."""
    found = [node.brief for node in together(nodes)]
    more = f"; and {len(found) - _SHOWN} more nodes" if len(found) > _SHOWN else ""
    return "; ".join(found[:_SHOWN]) + more


def listed(keys: tuple[str, ...]) -> str:
    """The first few keys, and how many more there are."""
    more = f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
    return ", ".join(keys[:_SHOWN]) + more
