"""Commands made from request types: a parameter that is a dataclass stands for one option for each of its fields."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable, Collection


def spread(function: Callable[..., None], without: Collection[str] = ()) -> Callable[..., None]:
    """A function with the fields of its requests in place of these, in order, and the same help.

    Fields in `without` are no options: they have their defaults.
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
    """A request of those of its fields that were given, which are taken out."""
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
