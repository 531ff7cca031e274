"""Raw unified-memory records of CUPTI, in the form that `octavo calibrate` keeps beside its samples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from octavo.errors import ProfileError, again
from octavo.files import compression
from octavo.measurements.activity import decode
from octavo.measurements.activity.rows import COPIES
from octavo.measurements.imports.profile import Profile
from octavo.measurements.imports.write import check_folder, write

if TYPE_CHECKING:
    from octavo.runs.result import RunResult

_MOST_BYTES = 1 << 30
"""Our choice: ten million records of 64 or 104 bytes each."""

_NOT_RECORDED = [
    "allocations: CUPTI's unified-memory records do not name them; address ranges stand in for them, and what was "
    "allocated again at the same addresses counts as one, so that its ρ is too high",
    "kernels: CUPTI's unified-memory records do not name them",
]


def import_cupti(path: str | Path, folder: str | Path, *, layout: str | None = None, force: bool = False) -> RunResult:
    """Import a file of CUPTI's unified-memory records; the folder appears once everything is written, or not at all.

    Args:
        path: records one after another, without anything between them; may be packed with xz.
        folder: the result folder to write.
        layout: `v2` or `v3`, as `octavo.measurements.activity.LAYOUTS` has it; told from the records if left out.
        force: replace a result that is there.

    Raises:
        ProfileError: the file cannot be read, holds other records, or none that can be used.
        OutputError: the folder cannot be written, or holds something.

    """
    path, folder = Path(path), Path(folder)
    check_folder(folder, force=force)
    try:
        records = compression.read(path, "unified-memory records", _MOST_BYTES)
    except OSError as error:
        raise ProfileError(f"cannot read {path}: {error.strerror}", code="unreadable", file=path) from None
    try:
        found = decode(records, layout)
    except ProfileError as error:
        raise again(error, ProfileError, f"{path}: {error.message}") from None
    if not len(found.rows):
        raise ProfileError(f"{path} holds no unified-memory record that can be used", file=path)
    copies = any(bool((found.rows["what"] == what).any()) for what in COPIES)
    source = {"tool": "cupti", "file": path.name, "bytes": len(records)}
    missing = [*_NOT_RECORDED, *([] if copies else ["copies of managed memory: none recorded"])]
    return write(Profile(source=source, rows=found.rows, missing=missing, notes=found.notes), folder, force=force)
