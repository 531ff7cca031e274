"""Nodes in files: a machine file, or any TOML file with a table `[node]`."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from octavo.files.text import read_text, reason

SUFFIX = ".toml"


def is_file(name: str) -> bool:
    """Whether the name of a node is the path of a file, which no preset's name can be."""
    return name.endswith(SUFFIX) or "/" in name or os.sep in name


def node_name(node: str | Path) -> str:
    """A node as a scenario names it: a preset, or a file in a form that no preset's name has."""
    name = str(node)
    return f"./{name}" if isinstance(node, Path) and not is_file(name) else name


def placed(name: object, folder: Path) -> object:
    """The value of `node.preset` for a file in `folder` that says `name`; a preset's name stays unchanged."""
    return str(folder / name) if isinstance(name, str) and is_file(name) else name


def read(place: str, named_by: str | None) -> tuple[str, str]:
    """Name and text of a file that holds a node.

    Args:
        place: as it was written; a relative path starts from the file that it was written in, or from the working
            directory if it was written in an override.
        named_by: that file, if there is one.

    Raises:
        ValueError: it cannot be read; the message says why, and which file was probably meant.

    """
    path = Path(place) if named_by is None else Path(named_by).parent / place
    try:
        return str(path), read_text(path)
    except (OSError, ValueError) as error:  # A path with a null character is a ValueError.
        raise ValueError(f"cannot read {path}: {reason(error)}{_meant(path)}") from None


def _meant(path: Path) -> str:
    try:
        beside = [file.stem for file in path.parent.glob(f"*{SUFFIX}") if file.name != path.name]
    except (OSError, ValueError):
        beside = []
    nearest = difflib.get_close_matches(path.stem, beside, 1)
    return f"; did you mean `{path.parent / nearest[0]}{SUFFIX}`?" if nearest else ""
