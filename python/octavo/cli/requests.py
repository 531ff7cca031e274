"""Commands made from request types: a parameter that is a dataclass becomes one option for each of its fields."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

Function = TypeVar("Function", bound="Callable[..., Any]")


class Group(typer.Typer):
    """Commands of one group; their parameters may be requests."""

    def command(self, *names: Any, **settings: Any) -> Callable[[Function], Function]:
        """Make a function one of its commands."""
        return _with(super().command(*names, **settings))

    def callback(self, *names: Any, **settings: Any) -> Callable[[Function], Function]:
        """Make a function run before its commands, or instead of them."""
        return _with(super().callback(*names, **settings))


def _with(register: Callable[..., Any]) -> Callable[[Function], Function]:
    """A decorator that registers a function with its requests spread out, and leaves the function unchanged."""

    def add(function: Function) -> Function:
        register(spread(function))
        return function

    return add


def spread(function: Callable[..., None], without: Collection[str] = ()) -> Callable[..., None]:
    """A function with the fields of its requests as parameters instead, in order, and with the same help.

    Fields in `without` are no options: they keep their defaults.
    """
    hints = get_type_hints(function, include_extras=True)
    requests: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    if not requests:
        return function
    parameters: list[inspect.Parameter] = []
    for each in inspect.signature(function).parameters.values():
        of = requests.get(each.name)
        parameters += [each.replace(annotation=hints[each.name])] if of is None else _fields(of, without)

    def spread_out(**given: Any) -> None:
        made = {name: _made(of, given) for name, of in requests.items()}
        function(**given, **made)

    spread_out.__name__, spread_out.__doc__ = function.__name__, function.__doc__
    spread_out.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what Typer looks for
    spread_out.__annotations__ = {each.name: each.annotation for each in parameters}
    return spread_out


def _made(request: Any, given: dict[str, Any]) -> Any:
    """A request made from its fields in `given`, which are removed from there."""
    return request(**{each.name: given.pop(each.name) for each in fields(request) if each.name in given})


def _fields(request: Any, without: Collection[str]) -> list[inspect.Parameter]:
    hints = get_type_hints(request, include_extras=True)
    return [
        inspect.Parameter(
            each.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=_default(each), annotation=hints[each.name]
        )
        for each in fields(request)
        if each.name not in without
    ]


def _default(field: Field[Any]) -> Any:
    return inspect.Parameter.empty if field.default is MISSING else field.default
