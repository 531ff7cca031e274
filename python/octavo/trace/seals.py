"""Traces that other programs recorded, vouched for from now on."""

from __future__ import annotations

from pathlib import Path

from octavo.files import manifest
from octavo.trace.folder import write_manifest
from octavo.trace.reader import Trace


def seal(path: str | Path) -> int:
    """Check every rule of the format, and write the manifest that a trace lacks; one that is there is checked and kept.

    Raises:
        TraceError: it is no valid trace, a file is not what its manifest says, or it cannot be written.

    Returns: how many rows the trace has.

    """
    path = Path(path)
    rows = Trace(path).validate()
    if manifest.read(path) is None:
        write_manifest(path)
    return rows
