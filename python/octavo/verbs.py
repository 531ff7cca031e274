"""Methods of results that draw, report or explain: they stand above results, and the facade says where."""

from __future__ import annotations

from importlib import import_module
from types import MethodType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_HOMES: dict[str, tuple[str, str]] = {}


def attach(homes: Mapping[str, tuple[str, str]]) -> None:
    """Say of methods, such as `RunResult.plot`, which module has the function, and its name there."""
    _HOMES.update(homes)


class Verb:
    """A method whose function is imported when it is asked for."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"{owner.__name__}.{name}"

    def __get__(self, instance: object, owner: type | None = None) -> Callable[..., Any]:
        module, name = _HOMES[self._name]
        function: Callable[..., Any] = getattr(import_module(module), name)
        return function if instance is None else MethodType(function, instance)
