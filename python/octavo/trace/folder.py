"""Folders of traces: written whole or not at all, checked before they are read."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import octavo._core as _core
from octavo.errors import DamagedError, OutputError, TraceError, again
from octavo.files import atomic, digest, links, manifest, ours, swap
from octavo.files.manifest import MANIFEST_FILE, Manifest
from octavo.files.notes import note
from octavo.trace.engine import call

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

TRACE = "trace"
"""What the manifests of traces call them."""
_ALWAYS = tuple(f"{name}.parquet" for name in ("allocations", "instructions", "launches"))
FILES = ("actions.parquet", *_ALWAYS)
"""Names of all files that traces may have."""


@contextmanager
def written(path: Path, *, replace: bool) -> Iterator[Path]:
    """Where the engine writes a trace that is to be `path`, which it becomes at the end, sealed with a manifest.

    Raises:
        TraceError: something is there that may not be replaced, another process writes it, or it cannot be written.

    """
    try:
        swap.mend(path, _ALWAYS)
        if path.exists():
            _check_replaceable(path, replace=replace)
        with swap.locked(path, _ALWAYS) as target, _replaced(path, target, replace=replace) as folder:
            inner = folder / "trace"
            try:
                yield inner
            except TraceError as error:
                raise again(error, TraceError, _as_named(error.message, folder, path)) from None
            for file in inner.iterdir():
                file.rename(folder / file.name)
            inner.rmdir()
    except OutputError as error:
        raise again(error, TraceError) from None


def _as_named(message: str, folder: Path, path: Path) -> str:
    """A message that calls a trace by its name to be, wherever in its folder the engine writes it meanwhile."""
    return re.sub(rf"{re.escape(str(folder))}/(trace|\.trace\.\d+\.\d+)", lambda _: str(path), message)


@contextmanager
def _replaced(path: Path, target: Path, *, replace: bool) -> Iterator[Path]:
    known = _check_replaceable(path, replace=replace) if path.exists() else ()
    with swap.replaced(target, TRACE, known) as folder:
        yield folder


def _check_replaceable(path: Path, *, replace: bool) -> Collection[str]:
    """Make sure that a trace may be replaced; returns the names of its files if no manifest has them."""
    if not replace:
        raise TraceError(f"{path}: exists already", code="exists", file=path)
    try:
        found = manifest.read(path)
    except DamagedError:
        ours.check_vouched(path, FILES)
        return ()
    if found is None:
        return _unsealed(path)
    if found.kind != TRACE:
        raise TraceError(f"{path} exists and is not a trace: it is not replaced", code="not-ours", file=path)
    return ()


def _unsealed(path: Path) -> Collection[str]:
    """The files of a trace without a manifest: they are a trace only if they can be read as one."""
    try:
        call(_core.trace_validate, str(path))
        return FILES if "program" in json.loads(call(_core.trace_info, str(path))) else _ALWAYS
    except TraceError as error:
        raise TraceError(
            f"{path} exists and is not a trace: it is not replaced ({error.message})",
            "remove the folder if nothing in it is needed, or choose another name",
            code="not-ours",
            file=path,
        ) from None


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
        raise again(error, TraceError) from None


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
        hint = f"restore the file, or remove {path / MANIFEST_FILE} if it was changed on purpose"
        raise again(error, TraceError, hint=hint) from None
    if found is None and is_trace(path):
        note(f"{path} has no manifest, so damage may go unnoticed; `octavo trace seal` writes one")
