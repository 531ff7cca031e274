"""Headers that a file asks for and that no -I names, looked for in the folders around it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from octavo.transform.front_end import parse, problems

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from octavo.transform.front_end import Problem, Reading

_MISSING = re.compile(r"^'([^']+)' file not found")
_FOLDERS = ("", "include", "inc", "common", "Common", "src", "utils")
"""Where programs keep headers that several of them share; chosen from what is usual."""
_UP = 5
"""Our choice: folders above the file's own that are looked through; of a Git checkout, none outside of it."""
_ROUNDS = 4
"""Our choice: a header that is found may ask for another."""


def read(path: Path, reading: Reading) -> tuple[Any, list[Problem], Reading]:
    """The translation unit, its problems, and the reading with the folders that were found."""
    for _ in range(_ROUNDS):
        unit = parse(path, reading)
        found = problems(unit)
        more = [folder for name in _missing(found) if (folder := _folder(path, name)) is not None]
        new = tuple(folder for folder in dict.fromkeys(more) if folder not in reading.include)
        if not new:
            break
        reading = replace(reading, include=(*reading.include, *new))
    return unit, found, reading


def _missing(found: list[Problem]) -> Iterator[str]:
    for each in found:
        if named := _MISSING.match(each.message):
            yield named[1]


def _folder(path: Path, header: str) -> Path | None:
    """The nearest folder from which a header can be included as it is named."""
    for above in _around(path):
        for name in _FOLDERS:
            if (above / name / header).is_file():
                return above / name
    return None


def _around(path: Path) -> Iterator[Path]:
    """The file's folder and those above it, as far as they belong to the same program."""
    folder = path.resolve().parent
    for each in (folder, *folder.parents)[: _UP + 1]:
        yield each
        if (each / ".git").exists():
            return
