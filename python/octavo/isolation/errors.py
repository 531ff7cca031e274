"""Errors that one process raises and another one raises again."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import octavo._core as _core
from octavo import errors
from octavo.addresses import NO_MORE
from octavo.plain import cut

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_CHARACTERS = 40_000
"""Characters of a text in an error; our choice: twice the longest traceback of a policy."""
_ENGINE = {
    each.__name__: each
    for each in (
        _core.Interrupted,
        _core.OptionError,
        _core.OutOfMemory,
        _core.OverTime,
        _core.PolicyError,
        _core.ScenarioError,
        _core.SimulationError,
    )
}
_OURS = {
    name: each for name, each in vars(errors).items() if isinstance(each, type) and issubclass(each, errors.OctavoError)
}


def explained(error: BaseException) -> str:
    """An error as text: our own as they are, others with their kind."""
    if isinstance(error, _core.PolicyError):
        return "\n".join(error.args).rstrip()
    if isinstance(error, (errors.OctavoError, _core.SimulationError, _core.ScenarioError)):
        return str(error.args[0])
    if isinstance(error, UnknownError):
        return str(error)
    if isinstance(error, MemoryError):
        return NO_MORE
    if isinstance(error, OSError):
        return f"cannot write the result: {error}"
    return f"{type(error).__name__}: {error}"


class UnknownError(Exception):
    """An error of a class that is not known here; arguments: name of the class, text."""

    def __str__(self) -> str:
        return ": ".join(map(str, self.args))


def packed(error: BaseException) -> dict[str, Any]:
    """An error as JSON."""
    name = type(error).__name__
    if isinstance(error, errors.OctavoError) and name in _OURS:
        return {"ours": name, "message": cut(error.message), "hint": error.hint, "details": error.details} | {
            "facts": error.facts
        }
    if type(error) in _ENGINE.values():
        return {"engine": name, "arguments": _bounded(error.args), "cause": _cause(error.__cause__)}
    if isinstance(error, MemoryError):
        return {"memory": None}
    if isinstance(error, OSError):
        return {"system": [error.errno, error.strerror, error.filename and str(error.filename)]}
    return {"class": name, "text": cut(str(error))}


def unpacked(found: dict[str, Any]) -> BaseException:
    """The same error again; one of a class that only the other process knows is an `UnknownError`."""
    if "ours" in found:
        ours = _OURS[found["ours"]](found["message"], **found["facts"])
        ours.hint, ours.details = found["hint"], found["details"]
        return ours
    if "engine" in found:
        error = _ENGINE[found["engine"]](*found["arguments"])
        error.__cause__ = found["cause"] and _of_python(found["cause"])
        return error
    if "memory" in found:
        return MemoryError()
    if "system" in found:
        return OSError(*found["system"])
    return UnknownError(found["class"], found["text"])


def _bounded(arguments: Sequence[Any]) -> list[Any]:
    """Arguments whose texts are cut to a readable length."""
    return [cut(each, _MOST_CHARACTERS) if isinstance(each, str) else each for each in arguments]


def _cause(error: BaseException | None) -> dict[str, Any] | None:
    """An exception of Python's own with plain arguments; those of other classes exist in their process only."""
    if error is None or getattr(builtins, type(error).__name__, None) is not type(error):
        return None
    if not all(isinstance(each, (str, int, float, bool, type(None))) for each in error.args):
        return None
    return {"class": type(error).__name__, "arguments": _bounded(error.args)}


def _of_python(found: dict[str, Any]) -> BaseException | None:
    try:
        return getattr(builtins, found["class"])(*found["arguments"])  # type: ignore[no-any-return]
    except TypeError:
        return None
