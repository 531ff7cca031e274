"""Folders of traces: written whole or not at all, checked before they are read."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from octavo.errors import DamagedError, OutputError, TraceError
from octavo.files import atomic, digest, links, manifest, swap
from octavo.files.manifest import MANIFEST_FILE, Manifest
from octavo.files.notes import note

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

TRACE = "trace"
"""What the manifests of traces call them."""
FILES = tuple(f"{name}.parquet" for name in ("actions", "allocations", "instructions", "launches"))
"""Names of all files that traces may have."""


@contextmanager
def written(path: Path, *, replace: bool) -> Iterator[Path]:
    """Where the engine writes a trace that is to be `path`, which it becomes at the end, sealed with a manifest.

    Raises:
        TraceError: something is there that may not be replaced, another process writes it, or it cannot be written.

    """
    try:
        if path.exists():
            _check_replaceable(path, replace=replace)
        with swap.locked(path, FILES) as target, swap.replaced(target, TRACE, FILES) as folder:
            if path.exists():
                _check_replaceable(path, replace=replace)
            inner = folder / "trace"
            try:
                yield inner
            except TraceError as error:  # Messages call it by its name to be.
                raise TraceError(error.message.replace(str(inner), str(path)), error.hint) from None
            for file in inner.iterdir():
                file.rename(folder / file.name)
            inner.rmdir()
    except OutputError as error:
        raise TraceError(error.message, error.hint) from None


def _check_replaceable(path: Path, *, replace: bool) -> None:
    if not replace:
        raise TraceError(f"{path}: exists already")
    if not is_trace(path):
        raise TraceError(f"{path} exists and is not a trace: it is not replaced")


def is_trace(path: Path) -> bool:
    """Whether a folder holds a trace, perhaps a damaged one."""
    return (path / "instructions.parquet").is_file()


def write_manifest(path: Path) -> None:
    """Write the manifest of a trace that is whole as it is; files of others in its folder are none of it."""
    try:
        with swap.locked(path, FILES) as target:
            files = {name: digest.entry(target / name) for name in FILES if (target / name).is_file()}
            atomic.write_bytes(links.inside(target, MANIFEST_FILE), Manifest(TRACE, files).text().encode())
    except OutputError as error:
        raise TraceError(error.message, error.hint) from None


def check_all(paths: Iterable[Path]) -> None:
    """Check every trace; errors as `check`."""
    for path in paths:
        check(path)


def check(path: Path) -> None:
    """Make sure that every file of a trace is what was written; those without a manifest do not say, which is told.

    Raises:
        TraceError: one is not; the message names it, what was expected and what was found.

    """
    try:
        found = manifest.read(path)
        if found is not None:
            manifest.verify(path, found)
    except DamagedError as error:
        raise TraceError(
            error.message, f"restore the file, or remove {path / MANIFEST_FILE} if it was changed on purpose"
        ) from None
    if found is None and is_trace(path):
        note(f"{path} has no manifest, so damage may go unnoticed; `octavo trace seal` writes one")
