"""Names in running text: what is between backticks outside of fences."""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
KEY = re.compile(r"[a-z]\w*(?:\.[a-z]\w*)+")


def inline(text: str) -> list[str]:
    """Every piece of inline code."""
    return re.findall(r"`([^`\n]+)`", FENCE.sub("", text))


class Keys:
    """The keys of scenarios."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = schema
        self._top = set(schema["properties"])
        self._names = set(_names(schema))

    def flaw(self, code: str) -> str | None:
        """The key that code names if there is none: one of a scenario, or its end alone, without `node` before it."""
        found = KEY.fullmatch(re.split(r"\s*=|\s", code)[0])
        if not found or self.exists(found[0]):
            return None
        first, second = found[0].split(".")[:2]
        return found[0] if first in self._top or {first, second} <= self._names else None

    def exists(self, key: str) -> bool:
        """Whether a scenario may have such a key."""
        at = [self._schema]
        for part in key.split("."):
            at = [below for schema in at for table in _tables(schema) for below in _below(table, part)]
        return bool(at)


def _names(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for each in schema.values():
            yield from _names(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from _names(each)


def _tables(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A schema and its alternatives."""
    yield schema
    for kind in ("anyOf", "oneOf", "allOf"):
        for each in schema.get(kind, []):
            yield from _tables(each)
    if isinstance(schema.get("items"), dict):
        yield from _tables(schema["items"])


def _below(table: dict[str, Any], part: str) -> list[dict[str, Any]]:
    if part in table.get("properties", {}):
        return [table["properties"][part]]
    free = table.get("additionalProperties")
    return [free] if isinstance(free, dict) else []


def is_python(name: str) -> bool:
    """Whether there is a module, or something in one, of this dotted name."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for part in parts[end:]:
            if not hasattr(found, part):
                return part in getattr(found, "__annotations__", {})
            found = getattr(found, part)
        return True
    return False


def options(command: Any) -> Iterator[str]:
    """Every option of a command and of those below it."""
    for parameter in command.params:
        yield from (*parameter.opts, *parameter.secondary_opts)
    for below in getattr(command, "commands", {}):
        yield from options(command.commands[below])
