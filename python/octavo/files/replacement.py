"""Files that commands write where a user says: which of them may be replaced."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo.errors import OutputError

if TYPE_CHECKING:
    from pathlib import Path

_READ = 4096
"""Bytes that show what kind a file is; our choice."""


@dataclass(frozen=True)
class Made:
    """The kinds of files that Octavo writes, and how they begin."""

    what: str
    begins: re.Pattern[bytes]


REPORT = Made("report", re.compile(rb"<!DOCTYPE html>.*<title>Octavo: ", re.DOTALL))
TIMELINE = Made("timeline", re.compile(rb"\n[\x80-\xff]*[\x00-\x7f]P\x01b"))
"""A first packet (field 1, length), of writer 1 (field 10), with names (field 12): see `spans/packet.rs`."""
PICTURES = {
    "png": Made("PNG picture", re.compile(rb"\x89PNG\r\n\x1a\n")),
    "svg": Made("SVG picture", re.compile(rb"\s*(<\?xml.*)?(<!DOCTYPE svg.*)?<svg", re.DOTALL)),
    "pdf": Made("PDF file", re.compile(rb"%PDF-")),
}
"""Recognised by the ending of their names; files of other programs may be replaced, too."""


def check_free(path: Path, *, force: bool, hint: str = "choose another name, or replace it with --force") -> None:
    """Make sure that no file has the name, or that it may be replaced.

    Raises:
        OutputError: something has it.

    """
    if path.exists() and not force:
        raise OutputError(f"{path} exists already", hint, code="exists", file=path)


def check_made(path: Path, made: Made) -> None:
    """Make sure that a file does not exist, or is empty, or was written by a command of this kind.

    Raises:
        OutputError: something else is there, or it cannot be read.

    """
    if not path.is_file():
        return
    try:
        with path.open("rb") as file:
            begins = file.read(_READ)
    except OSError as error:
        raise OutputError(
            f"cannot read {path}, which is to be replaced: {error.strerror}", code="unreadable", file=path
        ) from error
    if begins and not made.begins.match(begins):
        raise OutputError(
            f"{path} exists already, and is no {made.what}",
            "choose another name, or remove the file",
            code="exists",
            file=path,
        )
