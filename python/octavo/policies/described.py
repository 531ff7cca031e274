"""What the name of a class stands for, found out in a process of its own: to load a file is to execute it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo._core import OptionError
from octavo.apart import orders
from octavo.apart.process import Process, VanishedError
from octavo.files.text import read_bytes
from octavo.policies import digest, find, options
from octavo.policies.options import Option

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_State = tuple[object, ...]
_KNOWN: dict[tuple[str, str], tuple[_State, Described]] = {}
"""What was found by kind and name, and the state of the files that it was found in."""


@dataclass(frozen=True)
class Described:
    """A class, without the class."""

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
    """What `name` stands for, as `octavo.policies.find.find` says; a class given as an object is here already.

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
    """What has to be the same for a class to be the same: the sources of a file, or when a module was written."""
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
        with Process("octavo.policies.described") as process:
            return Described.unpacked(process.ask({"kind": kind, "name": name}))
    except VanishedError as error:
        at = f". {error.details}" if error.details else ""
        raise OptionError("name", f"{name} cannot be loaded: {error.args[0]}{at}") from None
    except OSError as error:
        raise OptionError("name", f"{name} cannot be loaded: no process can be started: {error.strerror}") from None


def main() -> None:
    """Load what is asked for."""
    orders.serve(_load)


def _load(order: dict[str, Any], _tell: Callable[..., None], _stopped: orders.Stopped) -> dict[str, Any]:
    return Described.of(order["kind"], order["name"]).packed()
