"""Which file of a Python package imports which: at the top, inside functions, and for types only."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from tidy.graph import Graph

SUFFIXES = (".py", ".pyi")
"""Of sources, and of what is said of a compiled module."""


class Name(NamedTuple):
    """What an import asks for: a module, and a name in it if there is one."""

    module: str
    name: str | None


def graph(package: Path) -> Graph:
    """Return the imports between the files of `package`, as paths below the folder that holds it.

    A name that an `__init__.py` only hands on is taken from the file that defines it.
    """
    paths = sorted(path for path in package.rglob("*.py*") if path.suffix in SUFFIXES)
    sources = {module_of(path, package.parent): path for path in paths}
    trees = {module: ast.parse(path.read_text()) for module, path in sources.items()}
    named = {module: list(imports(tree, module, is_package(sources[module]))) for module, tree in trees.items()}
    handed = {module: handed_on(trees[module], names) for module, names in named.items() if is_package(sources[module])}
    file_of = {module: path.relative_to(package.parent).as_posix() for module, path in sources.items()}
    result: Graph = {file: set() for file in file_of.values()}
    for module, names in named.items():
        targets = {resolve(name, handed, set(sources)) for name in names}
        result[file_of[module]] = {file_of[target] for target in targets - {module, None} if target}
    return result


def imports_of(package: Path, other: str) -> list[str]:
    """Return where the files of `package` import from the package `other`, as `file -> module`."""
    found = []
    for path in sorted(package.rglob("*.py*")):
        if path.suffix in SUFFIXES:
            named = imports(ast.parse(path.read_text()), module_of(path, package.parent), is_package(path))
            modules = sorted({one.module for one in named if one.module.partition(".")[0] == other})
            found += [f"{path.relative_to(package.parent).as_posix()} -> {module}" for module in modules]
    return found


def module_of(path: Path, home: Path) -> str:
    """Return the dotted name of a file."""
    parts = path.relative_to(home).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_package(path: Path) -> bool:
    """Whether a file is the face of a folder."""
    return path.name == "__init__.py"


def imports(tree: ast.AST, module: str, package: bool) -> list[Name]:
    """Return all that a module imports, wherever the statement stands."""
    found: list[Name] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.extend(Name(alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = source_of(node, module, package)
            found.extend(Name(source, alias.name) for alias in node.names)
    return found


def source_of(node: ast.ImportFrom, module: str, package: bool) -> str:
    """Return the module that a `from` names, which may be relative."""
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    up = node.level - 1 if package else node.level
    return ".".join([*parts[: len(parts) - up], *([node.module] if node.module else [])])


def handed_on(tree: ast.Module, names: list[Name]) -> dict[str, str]:
    """Return the names that a package imports from modules of its own, and these modules."""
    defined = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    return {one.name: one.module for one in names if one.name and one.name not in defined}


def resolve(one: Name, handed: dict[str, dict[str, str]], modules: set[str]) -> str | None:
    """Return the module that defines what is imported; None if it is none of the package's."""
    module, name = one
    for _ in range(len(modules)):
        if name and f"{module}.{name}" in modules:
            return f"{module}.{name}"
        onwards = handed.get(module, {}).get(name or "")
        if onwards is None or onwards not in modules:
            break
        module = onwards
    return module if module in modules else None
