"""Checks of arguments of Python functions; all errors about arguments have the same form.

Messages name the option of the command line (`--workers: expected …`). In Python they name the argument: see
`octavo.errors.OctavoError`.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, TypeVar

from octavo.errors import ScenarioError
from octavo.plain import near

_Name = TypeVar("_Name", bound=str)


def whole(name: str, value: object, *, least: int, most: int | None = None) -> int:
    """A whole number within bounds.

    Raises:
        ScenarioError: it is none.

    """
    number = _index(value)
    if number is not None and number >= least and (most is None or number <= most):
        return number
    expected = f"of at least {least}" if most is None else f"from {least} to {most:,}"
    found = repr(value) if number is None else f"{number:,}"
    raise ScenarioError(
        f"--{name}: expected a whole number {expected}, found {found}", code="unexpected-value", key=name, found=found
    )


def _index(value: object) -> int | None:
    """A whole number, also one of NumPy's, but not `True`."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]  # what this finds out
    except TypeError:
        return None


def workers(value: int | None) -> int | None:
    """The number of runs side by side, if one was given; errors are those of `whole`."""
    return None if value is None else whole("workers", value, least=1)


def number(name: str, value: object) -> object:
    """A number without quotes; the reader of scenarios checks other values.

    Raises:
        ScenarioError: it is a text.

    """
    if not isinstance(value, str):
        return value
    upper, slash, lower = (part.strip() for part in value.partition("/"))
    hint = f"write {upper} / {lower} without quotes" if slash else "write it without quotes"
    raise ScenarioError(f'--{name}: expected a number, found "{value}"', hint, code="unexpected-value", key=name)


def between(name: str, value: Any, what: str, *, least: float, most: float) -> float:
    """A number of something within bounds.

    Raises:
        ScenarioError: it is none.

    """
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if is_number and least <= value <= most:
        return float(value)
    found = f"{value:g}" if isinstance(value, float) else repr(value)
    raise ScenarioError(
        f"--{name}: expected {what} between {least:g} and {most:g}, found {found}",
        code="unexpected-value",
        key=name,
        expected=what,
        found=found,
    )


def choice(name: str, value: _Name, choices: Sequence[str]) -> _Name:
    """One of several names.

    Raises:
        ScenarioError: it is another one.

    """
    if value in choices:
        return value
    raise ScenarioError(
        f"--{name}: expected one of {', '.join(choices)}, found {value!r}",
        near(str(value), choices),
        code="unexpected-value",
        key=name,
        expected=choices,
        found=value,
    )


def path(name: str, value: object, what: str = "a path") -> Path:
    """A path, or the text of one.

    Raises:
        ScenarioError: it is neither.

    """
    return Path(text(name, value, what))


def text(name: str, value: object, what: str) -> str | Path:
    """A name or a path, unchanged.

    Raises:
        ScenarioError: it is neither.

    """
    if isinstance(value, (str, Path)):
        return value
    raise ScenarioError(
        f"--{name}: expected {what}, found {value!r}", code="unexpected-value", key=name, expected=what, found=value
    )


def names(name: str, value: Any) -> list[Any] | None:
    """A list of names, or a single one, which is never taken for a list of letters; None for None.

    Raises:
        ScenarioError: it is no list, or an empty one.

    """
    if value is None or isinstance(value, (str, Path, type)):
        return None if value is None else [value]
    if not isinstance(value, Sequence):
        raise ScenarioError(
            f"--{name}: expected a list of names, found {value!r}", code="unexpected-value", key=name, found=value
        )
    if not value:
        raise ScenarioError(
            f"--{name}: expected at least one name, found an empty list", code="unexpected-value", key=name
        )
    return list(value)


def tables(name: str, value: object) -> Sequence[Mapping[str, object]]:
    """A list of tables.

    Raises:
        ScenarioError: it is no list, or something else is in it.

    """
    if isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(one, Mapping) for one in value):
        return value
    raise ScenarioError(
        f"--{name}: expected a list of tables, found {value!r}", code="unexpected-value", key=name, found=value
    )
