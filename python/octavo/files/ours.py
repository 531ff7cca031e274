"""Which files in a folder Octavo wrote, and how to remove exactly these."""

from __future__ import annotations

import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

from octavo.errors import DamagedError, OutputError
from octavo.files import atomic, manifest
from octavo.files.atomic import SUFFIX
from octavo.files.manifest import MANIFEST_FILE

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

EMPTIED = "emptied"
"""The manifest's name for a folder, if only files of others are left there."""
_SHOWN = 5


def names(folder: Path, known: Collection[str]) -> set[str]:
    """Names of the files that Octavo wrote: those in the manifest, or `known` names if there is none.

    A damaged manifest vouches only for files that match it: a name alone does not make a file Octavo's.
    """
    return plain(folder, {*_listed(folder, known), MANIFEST_FILE})


def _listed(folder: Path, known: Collection[str]) -> set[str]:
    try:
        found = manifest.read(folder)
    except DamagedError:
        return manifest.vouched(folder)
    return set(known) if found is None else set(found.files)


def check_vouched(folder: Path, known: Collection[str]) -> None:
    """Make sure, before anything is computed, that a damaged manifest vouches for every file of a `known` name.

    Raises:
        OutputError: the manifest is damaged, and nothing says who wrote such a file.

    """
    try:
        manifest.read(folder)
    except DamagedError:
        doubtful = [folder / name for name in sorted(plain(folder, known) - manifest.vouched(folder))]
        if doubtful:
            raise OutputError(
                f"cannot replace {folder}: its manifest is damaged, and nothing says that Octavo wrote "
                f"{listed(doubtful)}",
                "remove these files if they are Octavo's, or choose another folder with -o",
                code="not-ours",
                file=folder,
                found=doubtful,
            ) from None


def plain(folder: Path, listed: Collection[str]) -> set[str]:
    """The names among these that Octavo writes: those of files, never of links or folders."""
    return {name for name in listed if _is_plain(folder / name)}


def others(folder: Path, known: Collection[str]) -> list[Path]:
    """Everything else in a folder."""
    mine = names(folder, known)
    return sorted(path for path in folder.iterdir() if path.name not in mine)


def remove(folder: Path, known: Collection[str]) -> None:
    """Remove what Octavo wrote, and the folder if nothing is left; the manifest goes last."""
    for name in sorted(names(folder, known), key=lambda name: name == MANIFEST_FILE):
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def empty(folder: Path, known: Collection[str]) -> None:
    """Remove what Octavo wrote. If something else is left, an empty manifest says whose the folder is."""
    mine = names(folder, known)
    if others(folder, known):
        atomic.write_bytes(folder / MANIFEST_FILE, manifest.Manifest(EMPTIED, {}).text().encode())
        mine.discard(MANIFEST_FILE)
    for name in sorted(mine, key=lambda name: name == MANIFEST_FILE):
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def remove_unfinished(folder: Path) -> None:
    """Remove an unfinished folder, into which only Octavo has written."""
    if not folder.name.endswith(SUFFIX) or folder.is_symlink():
        raise OutputError(f"{folder} is not a folder that was left unfinished", file=folder)
    if folder.is_dir():
        shutil.rmtree(folder)


def listed(paths: Collection[Path]) -> str:
    """The first few names, for messages."""
    shown = [f"{path.name}/" if path.is_dir() and not path.is_symlink() else path.name for path in list(paths)[:_SHOWN]]
    more = len(paths) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _is_plain(path: Path) -> bool:
    """Whether Octavo can have written it: it writes files, never links or folders."""
    return path.is_file() and not path.is_symlink()
