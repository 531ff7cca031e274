"""The transformation of a file, as programs call it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from octavo.transform.front_end import INCLUDE, Reading, check_installed
from octavo.transform.process import apart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.transform.result import Transformed


def include_folder() -> Path:
    """The folder with the header that transformed programs include."""
    return INCLUDE


def transform(
    path: str | Path,
    *,
    include: Sequence[str | Path] = (),
    define: Sequence[str] = (),
    standard: str = "c++17",
) -> Transformed:
    """A CUDA file with its allocations, frees and copies made to ask Octavo's runtime for their placement.

    Nothing is written. Code that is not understood or does not parse is left as it is, and listed. Headers that are
    not found are looked for in the folders around the file.

    Args:
        path: The file.
        include: Folders with further headers.
        define: Macros that the compiler is given, as `NAME` or `NAME=VALUE`.
        standard: The language, as compilers call it.

    Raises:
        TransformError: the file cannot be read, libclang is not installed, or the file does not parse and no call of
            the runtime is seen in it.

    """
    check_installed()
    return apart(Path(path), Reading(tuple(map(Path, include)), tuple(define), standard))
