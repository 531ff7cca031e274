"""Find out in a separate process which class a name stands for: loading a file executes it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo._core import OptionError
from octavo.files.text import read_bytes
from octavo.isolation import orders
from octavo.isolation.process import Process, VanishedError
from octavo.policies import digest, find, options
from octavo.policies.options import Option

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_State = tuple[object, ...]
_KNOWN: dict[tuple[str, str], tuple[_State, Described]] = {}
"""The results by kind and name, with the state of the files that they come from."""


@dataclass(frozen=True)
class Described:
    """The description of a class, without the class itself."""

    name: str
    """Its full name."""
    digest: str
    options: Mapping[str, Option]
    file: str | None
    """Where its module is."""

    @classmethod
    def of(cls, kind: str, name: str) -> Described:
        """Load the class in this process; errors as `octavo.policies.find.find`."""
        found = find.find(kind, name)
        return cls(found.name, found.digest, options.declared(found.policy), find.file_of(found.policy))

    def packed(self) -> dict[str, Any]:
        """As JSON."""
        return {**vars(self), "options": [each.packed() for each in self.options.values()]}

    @classmethod
    def unpacked(cls, found: dict[str, Any]) -> Described:
        """The same again."""
        declared = map(Option.unpacked, found["options"])
        return cls(found["name"], found["digest"], {each.name: each for each in declared}, found["file"])


def described(kind: str, name: str) -> Described:
    """The policy that `name` stands for, as in `find.find`; a class given as an object is loaded already.

    Raises:
        OptionError: there is no such class, it cannot be used, or its code ended the process that it was loaded in.

    """
    if find.is_object(name):
        return Described.of(kind, name)
    before, known = _KNOWN.get((kind, name), (None, None))
    if known is not None and before == _state(name, known.file):
        return known
    found = _loaded(kind, name)
    _KNOWN[kind, name] = _state(name, found.file), found
    return found


def _state(name: str, file: str | None) -> _State:
    """What identifies a class: the sources of a file, or the time when a module was written."""
    place = Path(find.place(name))
    if place.suffix == ".py" and place.is_file():
        local = [place, *digest.local_modules(place).values()]
        return (place.resolve(), *(read_bytes(each) if each.is_file() else None for each in local))
    try:
        about = Path(file or "").stat()
    except OSError:
        return (None,)
    return (about.st_mtime_ns, about.st_size)


def _loaded(kind: str, name: str) -> Described:
    try:
        with Process("octavo.policies.description") as process:
            return Described.unpacked(process.ask({"kind": kind, "name": name}))
    except VanishedError as error:
        at = f". {error.details}" if error.details else ""
        raise OptionError("name", f"{name} cannot be loaded: {error.args[0]}{at}") from None
    except OSError as error:
        raise OptionError("name", f"{name} cannot be loaded: no process can be started: {error.strerror}") from None


def main() -> None:
    """Load what an order names."""
    orders.serve(_load)


def _load(order: dict[str, Any], _tell: Callable[..., None], _stopped: orders.Stopped) -> dict[str, Any]:
    return Described.of(order["kind"], order["name"]).packed()
