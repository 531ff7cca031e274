"""Sizes that readers feel: lines of functions and files, bytes of what is tracked, words of pages."""

from __future__ import annotations

import ast
import re
import subprocess
from typing import TYPE_CHECKING

from tidy.rust_imports import closing, code_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FUNCTION_LINES = 70
FILE_LINES = 500
BLOB_BYTES = 256 << 10
PAGE_WORDS = 2500
_MATCHED = re.compile(r"\b(?:raises|warns)\([^)]*?\bmatch=")
_FUNCTION = re.compile(r"\bfn\s+(\w+)[^;{]*\{")


def tracked(root: Path) -> list[Path]:
    """Return the files that Git tracks, and those that it would if they were added; none outside a checkout."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, capture_output=True, check=False)
    paths = (root / name for name in done.stdout.decode().split("\0") if name)
    return sorted(path for path in paths if path.is_file() and not path.is_symlink())


def functions(root: Path, paths: list[Path]) -> dict[str, int]:
    """Return the functions that are too long, as `file::name`, and their lines."""
    found: dict[str, int] = {}
    for path in paths:
        kinds = {".py": python_functions, ".rs": rust_functions}
        for name, lines in kinds.get(path.suffix, nothing)(path):
            if lines > FUNCTION_LINES:
                key = f"{path.relative_to(root)}::{name}"
                found[key] = max(lines, found.get(key, 0))
    return found


def nothing(_path: Path) -> Iterator[tuple[str, int]]:
    """Find no function in a file of another language."""
    return iter(())


def python_functions(path: Path) -> Iterator[tuple[str, int]]:
    """Yield names and lines of a file's functions, decorators left out."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def rust_functions(path: Path) -> Iterator[tuple[str, int]]:
    """Yield names and lines of a file's functions, tests inside it left out."""
    code = code_of(path)
    for found in _FUNCTION.finditer(code):
        yield found[1], code.count("\n", found.start(), closing(code, found.end())) + 1


def files(root: Path, paths: list[Path]) -> dict[str, int]:
    """Return the sources that are too long, and their lines."""
    sources = [path for path in paths if path.suffix in (".py", ".pyi", ".rs", ".go", ".js", ".sh")]
    lines = {str(path.relative_to(root)): path.read_bytes().count(b"\n") for path in sources}
    return {name: count for name, count in lines.items() if count > FILE_LINES}


def blobs(root: Path, paths: list[Path]) -> dict[str, int]:
    """Return the files that are too large, and their bytes."""
    sizes = {str(path.relative_to(root)): path.stat().st_size for path in paths}
    return {name: size for name, size in sizes.items() if size > BLOB_BYTES}


def sentences(root: Path, paths: list[Path]) -> dict[str, int]:
    """Return the files of tests that compare the words of an error with a pattern, and how often.

    `refused` in `conftest.py` compares its code and its facts, which stay when words change. A pattern is for errors
    that have neither, such as the `ValueError` of a parser.
    """
    tests = [path for path in paths if path.name.startswith("test_") and path.suffix == ".py"]
    found = {str(path.relative_to(root)): len(_MATCHED.findall(path.read_text())) for path in tests}
    return {name: count for name, count in found.items() if count}


def pages(root: Path, paths: list[Path]) -> dict[str, int]:
    """Return the pages that are too long, and their words."""
    written = [path for path in paths if path.suffix == ".md"]
    words = {str(path.relative_to(root)): len(path.read_text().split()) for path in written}
    return {name: count for name, count in words.items() if count > PAGE_WORDS}
