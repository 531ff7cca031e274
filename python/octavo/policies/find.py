"""Finds the class that a name stands for: in a file, in a module, or among those given as objects."""

from __future__ import annotations

import importlib
import inspect
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from octavo._core import OptionError
from octavo.files.text import read_bytes
from octavo.generators.base import Generator
from octavo.policies import digest
from octavo.policies.base import KINDS, Policy
from octavo.policies.options import Configurable

if TYPE_CHECKING:
    from collections.abc import Iterator

BASES: dict[str, type[Configurable]] = {**KINDS, "workload": Generator}
"""What a class of each kind is derived from."""
_LOCK = threading.RLock()
_MODULES: dict[tuple[str, str], ModuleType] = {}
"""Modules of files by path and digest."""
_OBJECTS: dict[str, list[Found]] = {}
"""Classes given as objects by name, the latest last."""


@dataclass(frozen=True)
class Found:
    """A class, its full name and the digest of its source."""

    name: str
    policy: type[Configurable]
    digest: str


def find(kind: str, name: str, expected: str | None = None) -> Found:
    """The class that `name` stands for: `file.py`, `file.py:Class` or `module:Class`.

    Args:
        kind: one of `BASES`, such as `placement` or `workload`.
        name: as a user types it.
        expected: the digest that its source must have, if any.

    Raises:
        OptionError: there is no such class, it is of another kind or incomplete, or its source has another digest.

    """
    where = place(name)
    with _LOCK:
        file = where.endswith(".py")
        cls = name[len(where) + 1 :]
        found = _in_file(kind, Path(where), cls) if file else _in_module(kind, name, expected)
    _check(kind, found)
    if expected is not None and found.digest != expected:
        raise OptionError(
            "digest",
            f"{found.name} has changed since the scenario was resolved: its digest is {found.digest}, "
            f"expected {expected}; name the policy anew, or leave `digest` out",
        )
    return found


def place(name: str) -> str:
    """The file or the module of a name."""
    return name if name.endswith(".py") else name.partition(":")[0]


def file_of(policy: type[Configurable]) -> str | None:
    """The file of the module that has a class, if there is one."""
    return getattr(sys.modules.get(policy.__module__), "__file__", None)


def name_of(policy: object) -> str:
    """The name under which this process finds a class given as an object from now on.

    Raises:
        OptionError: it is no policy.

    """
    if not (isinstance(policy, type) and issubclass(policy, Policy)):
        raise OptionError("name", f"expected the name of a strategy or a policy class, found {policy!r}")
    name = f"{policy.__module__}:{policy.__qualname__}"
    found = Found(name, policy, digest.of_class(policy))
    with _LOCK:
        known = _OBJECTS.setdefault(name, [])
        if found in known:
            known.remove(found)
        known.append(found)
    return name


def is_object(name: str, expected: str | None = None) -> bool:
    """Whether a class was given as an object under a name, with a digest if one is given."""
    return any(expected in (None, found.digest) for found in _OBJECTS.get(name, ()))


def _check(kind: str, found: Found) -> None:
    base = BASES[kind]
    if not issubclass(found.policy, base):
        raise OptionError("name", f"{found.name} is not a {base.__name__}: expected a class derived from it")
    missing = ", ".join(sorted(found.policy.__abstractmethods__))
    if missing:
        raise OptionError("name", f"{found.name} has no method {missing}")


def _in_file(kind: str, path: Path, cls: str) -> Found:
    try:
        source = read_bytes(path)
    except OSError as error:
        raise OptionError("name", f"cannot read {path}: {error.strerror}") from None
    local = digest.local_modules(path)
    texts = {name: file.read_bytes() for name, file in local.items()}
    key = digest.of_sources({"": source, **texts})
    module = _MODULES.get((str(path.resolve()), key))
    if module is None:
        module = _load(path, source, key, tuple(local))
        _MODULES[str(path.resolve()), key] = module
    policy = _attribute(module, cls, str(path)) if cls else _only(kind, module, path)
    return Found(f"{path}:{policy.__qualname__}", policy, key)


def _load(path: Path, source: bytes, key: str, local: tuple[str, ...]) -> ModuleType:
    """Execute a file as a module of its own. Modules from its folder are imported again with it."""
    module = ModuleType(f"octavo_policy_{key}")
    module.__file__ = str(path.resolve())
    sys.modules[module.__name__] = module
    try:
        with _imports_from(path.parent, local):
            exec(compile(source, module.__file__, "exec"), vars(module))  # noqa: S102 - the user's own code
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        raise OptionError("name", f"{path} cannot be loaded: {described_error(error, module.__file__)}") from error
    return module


@contextmanager
def _imports_from(folder: Path, names: tuple[str, ...]) -> Iterator[None]:
    """Let modules in a folder be imported as they are now; restore other modules of their names afterwards."""
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    sys.path.insert(0, str(folder.resolve()))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(folder.resolve()))
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(before)


def described_error(error: BaseException, file: str) -> str:
    """An exception and the last line of the file that it came from."""
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return f"line {error.lineno}: {type(error).__name__}: {error.msg}"
    line = line_in(error, file)
    where = f"line {line}: " if line is not None else ""
    return f"{where}{type(error).__name__}: {error}"


def line_in(error: BaseException, file: str) -> int | None:
    """The last line of a file that an exception came through."""
    traceback, line = error.__traceback__, None
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == file:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


def _only(kind: str, module: ModuleType, path: Path) -> type[Configurable]:
    """The only class of a kind that a file defines."""
    own = [value for value in vars(module).values() if isinstance(value, type) and value.__module__ == module.__name__]
    fitting = [cls for cls in own if issubclass(cls, BASES[kind]) and not inspect.isabstract(cls)]
    if len(fitting) == 1:
        return fitting[0]
    base = BASES[kind].__name__
    if fitting:
        names = ", ".join(f"{path}:{cls.__qualname__}" for cls in fitting)
        raise OptionError("name", f"{path} has several classes derived from {base}: expected one of {names}")
    others = ", ".join(cls.__qualname__ for cls in own if issubclass(cls, Configurable))
    raise OptionError(
        "name", f"{path} has no complete class derived from {base}" + (f", only {others}" if others else "")
    )


def _in_module(kind: str, name: str, expected: str | None) -> Found:
    given = _OBJECTS.get(name, [])
    for found in reversed(given):
        if expected is None or found.digest == expected:
            return found
    if given:
        return given[-1]
    where, _, cls = name.partition(":")
    if where in ("", "__main__") or "<" in name or not cls:
        raise OptionError(
            "name",
            f"{name} was given as an object elsewhere and cannot be found here: expected {kind} as file.py, "
            "file.py:Class or module:Class",
        )
    try:
        module = importlib.import_module(where)
    except (Exception, SystemExit) as error:
        raise OptionError("name", f"module {where} cannot be loaded: {type(error).__name__}: {error}") from error
    policy = _attribute(module, cls, where)
    return Found(name, policy, digest.of_class(policy))


def _attribute(module: ModuleType, name: str, place: str) -> type[Configurable]:
    policy: object = module
    for part in name.split("."):
        policy = getattr(policy, part, None)
    if isinstance(policy, type) and issubclass(policy, Configurable):
        return policy
    known = [
        name for name, value in vars(module).items() if isinstance(value, type) and issubclass(value, Configurable)
    ]
    own = [name for name in known if vars(module)[name].__module__ == module.__name__]
    raise OptionError(
        "name", f"{place} has no class `{name}` of a policy or a workload" + (f", only {', '.join(own)}" if own else "")
    )
