"""The memory that a program is to fit into: what was asked for, of the machine that was asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from octavo.advice.fit import costs
from octavo.errors import ScenarioError
from octavo.plain import amount, shortened
from octavo.quantities import bytes_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_PERCENT = re.compile(r"\s*([0-9]{1,6})\s*%\s*")
_EXPECTED = "a size such as 24GB, or whole percent of what the program has at its most, such as 60%"
_MOST = 1 << 53
"""Bytes that no memory has."""


@dataclass(frozen=True)
class Memory:
    """Bytes."""

    gpu: int
    host: int | None
    """None without a limit."""
    reserve: int

    @property
    def room(self) -> int:
        """Bytes of GPU memory that the program can use."""
        return self.gpu - self.reserve


@dataclass(frozen=True)
class Asked:
    """What `--memory` says: bytes, or percent of the program's peak."""

    bytes: int | None = None
    percent: int | None = None

    @classmethod
    def of(cls, memory: int | str | None, node: Mapping[str, Any]) -> Asked:
        """What was asked for, or else what a node has.

        Raises:
            ScenarioError: it is no amount, more than the host has, or the node says none.

        """
        if memory is None:
            return cls._of_node(node)
        percent = _PERCENT.fullmatch(memory) if isinstance(memory, str) else None
        if percent is not None and int(percent[1]):
            return cls(percent=int(percent[1]))
        found = _bytes(memory)
        host = _host(node)
        if not 0 < found < _MOST:
            raise _refused(_EXPECTED, shortened(str(memory)))
        if host is not None and found > host:
            raise _refused(
                f"at most the {amount(host)} that the host has: what leaves the GPU lies there", amount(found)
            )
        return cls(bytes=found)

    @classmethod
    def _of_node(cls, node: Mapping[str, Any]) -> Asked:
        capacity = node["capacity"]
        found = bytes_of(capacity.get("bytes", "0B"))
        percent = int(capacity.get("footprint_percent", 0))
        if not found and not percent:
            raise _refused(_EXPECTED, "none, and a node without a limit")
        return cls(bytes=found or None, percent=None if found else percent)

    def memory(self, peak: int, node: Mapping[str, Any]) -> Memory:
        """The memory for a program that has at most `peak` bytes at once."""
        if self.bytes is None:
            # Percent are of what the program can have.
            return Memory(max(peak * (self.percent or 0) // 100, 1), _host(node), 0)
        return Memory(self.bytes, _host(node), costs.reserve(self.bytes))


def _bytes(memory: int | str) -> int:
    try:
        return bytes_of(memory) if isinstance(memory, str) else memory if type(memory) is int else 0
    except ValueError:
        return 0


def _host(node: Mapping[str, Any]) -> int | None:
    """The host's memory; none where a node sets no limit."""
    found = bytes_of(node["host"].get("memory", {}).get("capacity", "0B"))
    others = sum(bytes_of(each["capacity"]) for each in node["host"].get("memories", []))
    return found + others if found else None


def _refused(expected: str, found: str) -> ScenarioError:
    return ScenarioError(
        f"--memory: expected {expected}, found {found}",
        code="unexpected-value",
        key="memory",
        expected=expected,
        found=found,
    )
