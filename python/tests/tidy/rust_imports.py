"""Which file of a Rust crate takes names from which: by `use` and by paths in the code, tests apart."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tidy.graph import Graph

_LITERAL = re.compile(
    r"""//[^\n]*|/\*.*?\*/|b?r(\#*)".*?"\1|b?"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\\n])'""", re.DOTALL | re.VERBOSE
)
"""Comments, strings and characters, in which no import stands."""
_TESTS = re.compile(
    r"#\[cfg\((?:all\()?test\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+\w+\s*(?P<open>[{;])"
)
_USE = re.compile(r"(?P<public>pub(?:\([^)]*\))?\s+)?\buse\s+(?P<tree>[^;]+);")
_PATH = re.compile(r"\b(?:crate|self|super)(?:::\w+)+")
_VISIBILITY = re.compile(r"\bpub\(in [^)]*\)")
_MODULE = re.compile(r"\bmod\s+(\w+)\s*;")


class Module(NamedTuple):
    """A file: its code without comments, strings and tests."""

    path: Path
    code: str


Name = tuple[str, ...]
"""A module, or what is in it, from the crate's root on."""


def graph(crate: Path) -> Graph:
    """Return which files of `crate` take names from which, as paths from the folder that holds it.

    A name that a file only hands on (`pub use`) is taken from the file that defines it.
    """
    modules = {module_name(path, crate / "src"): Module(path, code_of(path)) for path in sources(crate)}
    handed = {name: dict(handed_on(module.code, name)) for name, module in modules.items()}
    file_of = {name: module.path.relative_to(crate.parent).as_posix() for name, module in modules.items()}
    result: Graph = {file: set() for file in file_of.values()}
    for name, module in modules.items():
        targets = {resolve(path, modules, handed) for path in names(module.code, name, modules)}
        result[file_of[name]] = {file_of[target] for target in targets if target is not None} - {file_of[name]}
    return result


def sources(crate: Path) -> list[Path]:
    """Return the files of a crate that are no tests; a main program is a crate of its own."""
    found = sorted((crate / "src").rglob("*.rs"))
    return [path for path in found if path.stem != "tests" and "tests" not in path.parts and path.name != "main.rs"]


def module_name(path: Path, root: Path) -> Name:
    """Return the module that a file is."""
    parts = path.relative_to(root).with_suffix("").parts
    return parts[:-1] if parts[-1] in ("mod", "lib") else parts


def code_of(path: Path) -> str:
    """Return a file without comments, strings and modules of tests; what is left stays on its line."""
    code = _LITERAL.sub(lambda found: "\n" * found.group().count("\n") or " ", path.read_text())
    while found := _TESTS.search(code):
        end = found.end() if found["open"] == ";" else closing(code, found.end())
        code = code[: found.start()] + "\n" * code.count("\n", found.start(), end) + code[end:]
    return code


def closing(code: str, start: int) -> int:
    """Return where the block ends that was opened just before `start`."""
    depth = 1
    for at in range(start, len(code)):
        depth += {"{": 1, "}": -1}.get(code[at], 0)
        if depth == 0:
            return at + 1
    return len(code)


def names(code: str, module: Name, modules: dict[Name, Module]) -> Iterator[Name]:
    """Yield what a file takes from the crate; what it only hands on is not taken."""
    rest = _VISIBILITY.sub("pub", _USE.sub(";", code))
    for use in _USE.finditer(code):
        for path in absolute(use["tree"], module, modules):
            if not use["public"] or re.search(rf"\b{re.escape(path[-1])}\b", rest):
                yield path
    for path in _PATH.finditer(rest):
        yield from absolute(path.group(), module, modules)
    for child in _MODULE.findall(code):
        yield from ((*module, *path.split("::")) for path in re.findall(rf"(?<![\w:]){child}(?:::\w+)+", rest))


def absolute(tree: str, module: Name, modules: dict[Name, Module]) -> Iterator[Name]:
    """Yield the paths of a tree of imports from the crate's root on."""
    for path in paths(tree):
        if path[0] == "crate":
            yield path[1:]
        elif path[0] in ("self", "super"):
            ups = sum(1 for part in path if part == "super")
            yield (*module[: len(module) - ups], *(part for part in path if part not in ("self", "super")))
        elif (*module, path[0]) in modules:
            yield (*module, *path)


def paths(tree: str) -> Iterator[Name]:
    """Yield the paths of `a::{b, c::d}`; other names given by `as` are left out."""
    head, _, inner = tree.strip().partition("{")
    start = tuple(part for part in (one.strip() for one in head.split("::")) if part)
    if not inner:
        yield tuple(re.sub(r"\s+as\s+\w+", "", part) for part in start)
        return
    for part in split(inner.rpartition("}")[0]):
        for rest in paths(part):
            yield (*start, *(one for one in rest if one != "self")) if rest[0] == "self" else (*start, *rest)


def split(inner: str) -> Iterator[str]:
    """Yield the parts between commas that stand in no further braces."""
    depth, part = 0, ""
    for sign in inner:
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if sign == "," and depth == 0:
            yield part
            part = ""
        else:
            part += sign
    if part.strip():
        yield part


def handed_on(code: str, module: Name) -> Iterator[tuple[str, Name]]:
    """Yield the names that a file hands on, and what they are."""
    children = {(*module, child): Module for child in _MODULE.findall(code)}
    for use in _USE.finditer(code):
        if use["public"]:
            for path in absolute(use["tree"], module, children):  # type: ignore[arg-type] - only names are asked for
                yield path[-1], path


def resolve(path: Name, modules: dict[Name, Module], handed: dict[Name, dict[str, Name]]) -> Name | None:
    """Return the file that defines what a path names."""
    for _ in range(len(modules)):
        home = next(path[:end] for end in range(len(path), -1, -1) if path[:end] in modules)
        if home == path:
            return home
        onwards = handed[home].get(path[len(home)])
        if onwards is None or onwards == path:
            return home
        path = (*onwards, *path[len(home) + 1 :])
    return None
