"""Folders that appear completely or not at all, and replace older ones without touching files that others put there.

A folder NAME is written as `.NAME.octavo-new`, sealed with a manifest, renamed to `.NAME.octavo-swap`, and exchanged
with NAME in one system call. Then files that are not Octavo's move from the old folder into the new one, and Octavo's
are removed. If the system cannot exchange them, the old folder is called `NAME.octavo-old` for a moment, which is not
hidden. If a process is killed in the middle, the next one repairs the folder.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from octavo.errors import OutputError
from octavo.files import atomic, blame, digest, links, locks, manifest, ours
from octavo.files.manifest import MANIFEST_FILE
from octavo.files.notes import note

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_MADE = "its name may be that of a file that Octavo writes: move it away"


@contextmanager
def locked(folder: Path, known: Collection[str]) -> Iterator[Path]:
    """A folder that is written as a whole, by this process alone, after repairing what killed processes left.

    The target of a symbolic link, if `folder` is one.

    Raises:
        OutputError: another process writes it, or it cannot be written.

    """
    target = folder
    try:
        target = links.followed(folder).absolute()
        target.parent.mkdir(parents=True, exist_ok=True)
        with locks.held(_beside(target, ".octavo-lock"), folder):
            _mend(target, known)
            yield target
    except OSError as error:
        if not blame.concerns(error, folder, target):
            raise
        raise OutputError(
            f"cannot write to {folder}: {atomic.reason(error)}",
            "what was there before stays; choose another folder with -o",
            code="unwritable",
            file=folder,
        ) from error


@contextmanager
def replaced(target: Path, kind: str, known: Collection[str]) -> Iterator[Path]:
    """A temporary folder that takes the place of `target`, which must be `locked`, if the block succeeds.

    Args:
        target: the folder.
        kind: what its manifest calls it.
        known: names of files that Octavo writes into such folders, for those without a manifest, as traces of other
            programs are.

    Raises:
        OutputError: a file that Octavo did not write has the name of one that it writes.

    """
    new = _beside(target, atomic.SUFFIX)
    ours.remove_unfinished(new)
    new.mkdir()
    try:
        yield new
        _seal(new, kind)
        _put(new, target, known)
    finally:
        ours.remove_unfinished(new)


def mend(folder: Path, known: Collection[str]) -> None:
    """Undo or complete what a killed process left, if there is anything; errors are those of `locked`."""
    target = links.followed(folder).absolute()
    left = (_beside(target, suffix) for suffix in (atomic.SUFFIX, ".octavo-swap", ".octavo-lock"))
    if any(path.exists() for path in (*left, _old(target))):
        with locked(folder, known):
            pass


def _beside(target: Path, suffix: str) -> Path:
    return target.with_name(f".{target.name}{suffix}")


def _old(target: Path) -> Path:
    return target.with_name(f"{target.name}.octavo-old")


def _seal(folder: Path, kind: str) -> None:
    """Write the manifest once everything else is on the disk."""
    text = manifest.of_files(folder, kind).text()
    atomic.write_bytes(folder / MANIFEST_FILE, text.encode())


def _put(new: Path, target: Path, known: Collection[str]) -> None:
    """Give a sealed folder its final name."""
    if target.is_dir():
        _check_names(new, target, known)
        swap = _beside(target, ".octavo-swap")
        new.rename(swap)
        _exchange(swap, target)
        digest.sync(target.parent)
        _settle(swap if swap.exists() else _old(target), target, known, say=True)
    else:
        new.rename(target)
    digest.sync(target.parent)


def _check_names(new: Path, target: Path, known: Collection[str]) -> None:
    taken = {path.name for path in new.iterdir()}
    clashing = [path for path in ours.others(target, known) if path.name in taken]
    if clashing:
        raise OutputError(
            f"cannot write to {target}: Octavo did not make {ours.listed(clashing)} in it",
            _MADE,
            file=target,
            code="not-ours",
            found=clashing,
        )


def _exchange(swap: Path, target: Path) -> None:
    """Let two folders exchange names at once; if the system cannot, rename the old one first."""
    if _exchanged(swap, target):
        return
    old = _old(target)
    target.rename(old)
    swap.rename(target)


def _exchanged(one: Path, other: Path) -> bool:
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError, TypeError):
        return False
    names = (ctypes.c_int(_AT_FDCWD), os.fsencode(one), ctypes.c_int(_AT_FDCWD), os.fsencode(other))
    return bool(rename(*names, ctypes.c_uint(_RENAME_EXCHANGE)) == 0)


def _mend(target: Path, known: Collection[str]) -> None:
    """Undo or complete what a killed process left."""
    old, swap = _old(target), _beside(target, ".octavo-swap")
    for left in (swap, old):
        if not left.is_dir() or left.is_symlink() or (any(left.iterdir()) and not ours.names(left, known)):
            continue
        if target.exists():
            _settle(left, target, known, say=False)
        else:  # Killed while the old folder stood aside.
            left.rename(target)
    ours.remove_unfinished(_beside(target, atomic.SUFFIX))


def _settle(left: Path, target: Path, known: Collection[str], *, say: bool) -> None:
    """Move what is not Octavo's out of a replaced folder, and remove the rest of it."""
    kept = []
    for path in ours.others(left, known):
        place = target / path.name
        if place.exists() or place.is_symlink():
            continue
        path.rename(place)
        kept.append(place)
    ours.remove(left, known)
    if kept and say:
        note(f"{target} keeps what Octavo did not write: {ours.listed(kept)}")
    if left.exists():
        note(f"{left} keeps what Octavo did not write, as {target} has other files of these names")
