"""Digests of the source of policies, so that results of another policy are never reused."""

from __future__ import annotations

import hashlib
import inspect
import sysconfig
from functools import cache
from modulefinder import ModuleFinder
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

_DIGITS = 16


def of_sources(sources: dict[str, bytes]) -> str:
    """The digest of texts by name, in any order."""
    digest = hashlib.sha256()
    for name, text in sorted(sources.items()):
        digest.update(f"{name}\0{len(text)}\0".encode())
        digest.update(text)
    return digest.hexdigest()[:_DIGITS]


def local_modules(path: Path) -> dict[str, Path]:
    """The modules in a file's folder that it imports, directly or indirectly, by name; nothing is executed."""
    finder = ModuleFinder(path=[str(path.parent)])
    try:
        finder.run_script(str(path))
    except SyntaxError:  # Loading says where.
        return {}
    modules = {name: getattr(module, "__file__", None) for name, module in finder.modules.items()}
    own = {name: file for name, file in modules.items() if file and name.split(".")[0] not in ("__main__", "octavo")}
    return {name: Path(file) for name, file in sorted(own.items())}


def of_class(policy: type) -> str:
    """The digest of a class whose file cannot be read again: its source and everything that it refers to by name."""
    seen: dict[str, bytes] = {}
    _collect(policy, seen)
    return of_sources(seen)


def _collect(thing: Any, seen: dict[str, bytes]) -> None:
    """Add the source of a class or function, and everything that its code refers to; for other objects, the value."""
    name = f"{thing.__module__}.{thing.__qualname__}"
    if name in seen or _is_library(thing):
        return
    seen[name] = _source(thing).encode()
    if isinstance(thing, type):
        for base in thing.__mro__[1:]:
            _collect(base, seen)
        for member in vars(thing).values():
            _collect_function(getattr(member, "__func__", getattr(member, "fget", member)), seen)
    else:
        _collect_function(thing, seen)


def _collect_function(function: object, seen: dict[str, bytes]) -> None:
    if not isinstance(function, FunctionType):
        return
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    known = {**function.__globals__, **{name: cell.cell_contents for name, cell in cells if name != "__class__"}}
    for name in sorted(_names(function.__code__) & known.keys()):
        value = known[name]
        if isinstance(value, (type, FunctionType)):
            _collect(value, seen)
        elif not isinstance(value, ModuleType):
            seen[f"{function.__module__}.{function.__qualname__}:{name}"] = repr(value).encode()


def _names(code: CodeType) -> set[str]:
    nested = [_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return {*code.co_names, *code.co_freevars}.union(*nested)


def _source(thing: Any) -> str:
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError):  # Made by exec, or typed into a plain interpreter.
        members = vars(thing).values() if isinstance(thing, type) else [thing]
        codes = [member.__code__ for member in members if isinstance(member, FunctionType)]
        return repr([(code.co_name, code.co_code, repr(code.co_consts), code.co_names) for code in codes])


def _is_library(thing: Any) -> bool:
    """Whether something belongs to Python, an installed package or Octavo, whose version results name."""
    module = thing.__module__ or "builtins"
    if module == "builtins" or module.split(".")[0] == "octavo":
        return True
    try:
        file = inspect.getfile(thing)
    except (OSError, TypeError):
        return False
    return any(Path(file).is_relative_to(folder) for folder in _libraries())


@cache
def _libraries() -> tuple[Path, ...]:
    return tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
