"""TOML files that people write, with a limit on the nesting of keys."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from octavo import _core
from octavo.files.text import read_text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from pathlib import Path


def read_toml(path: Path) -> dict[str, Any]:
    """The values of a TOML file.

    `tomllib` needs memory as the square of the length of a dotted key: gigabytes for 40 KB. So the engine's reader,
    which refuses such keys, checks first.

    Raises:
        OSError: it cannot be read, or is larger than such a file ever is.
        UnicodeDecodeError: it is not UTF-8.
        ValueError: it is not TOML; the argument says why.

    """
    return parsed(read_text(path))


def parsed(text: str) -> dict[str, Any]:
    """The values of a TOML text, like those of `read_toml`.

    Raises:
        ValueError: it is not TOML; the argument says why.

    """
    flaw = _core.toml_flaw(text)
    if flaw is not None:
        raise ValueError(flaw)
    return tomllib.loads(text)
