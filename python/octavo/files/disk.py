"""Files that a user names, and folders of results: checked before anything is computed, complete or absent."""

from __future__ import annotations

import json
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from octavo.errors import OutputError
from octavo.files import atomic, folder_locks, links

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


def check_writable(folder: Path) -> None:
    """Make sure that `folder` can be filled, before anything is computed.

    Raises:
        OutputError: it is a file, or a link that leads nowhere, or it cannot be created or written to.

    """
    folder = links.followed(folder)
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"cannot write results to {folder}: it is not a folder", code="not-a-folder", file=folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OutputError(
            f"cannot write results to {folder}: {error.strerror}",
            "choose another folder with -o",
            code="unwritable",
            file=folder,
        ) from error


def check_file(path: Path) -> None:
    """Make sure that a file can be written, before anything is computed.

    Raises:
        OutputError: it is a folder, or a link that leads nowhere, or its own folder cannot be written to.

    """
    if path.is_dir():
        raise OutputError(f"cannot write {path}: it is a folder", code="is-a-folder", file=path)
    check_writable(links.followed(path).parent)


@contextmanager
def replaced_file(path: Path | None) -> Iterator[Path | None]:
    """A temporary file that takes the place of `path` when the block ends without an error; None for None.

    Raises:
        OutputError: it cannot be written; what was there before stays.

    """
    if path is None:
        yield None
        return
    with atomic.replaced_file(path) as temporary:
        yield temporary


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all.

    Raises:
        OutputError: it cannot be written; what was there before stays.

    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"cannot write {path}: {error.strerror}", "choose another place with -o", code="unwritable", file=path
        ) from error
    folder_locks.write_bytes(path, content)


def write_text(path: Path, text: str) -> None:
    """Write a file of text whole or not at all; errors as `write_bytes`."""
    write_bytes(path, text.encode())


def write_json(path: Path, value: Mapping[str, Any] | Sequence[Any]) -> None:
    """Write a JSON file whole or not at all; errors as `write_bytes`."""
    write_text(path, json_text(value))


def json_text(value: Mapping[str, Any] | Sequence[Any]) -> str:
    """Return JSON as files hold it."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
