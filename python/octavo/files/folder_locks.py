"""Folders that fill up file by file, such as experiments and sweeps: for one process at a time.

Files written while a folder is open enter its manifest: first as a name without a hash, so that a killed process leaves
no file of unknown origin.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo.errors import DamagedError, OutputError
from octavo.files import atomic, blame, digest, links, locks, manifest, ours
from octavo.files.manifest import MANIFEST_FILE, Manifest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

LOCK_FILE = ".octavo-lock"
_OTHER = "choose another folder with -o"
_OPEN: dict[Path, _Open] = {}
"""Folders that this process has open."""


@dataclass(frozen=True)
class Shared:
    """The kind of folder, for its manifest."""

    kind: str
    """Its name in manifest and messages."""
    key: str
    """Which experiment it is."""
    known: Collection[str]
    """Names of the files that will be written into it, as far as they are known. An existing file of such a name that
    no manifest lists belongs to someone else; it is refused before anything runs.
    """


@contextmanager
def opened(root: Path, shared: Shared, *, force: bool) -> Iterator[None]:
    """Open a folder; make it if it does not exist, and follow a symbolic link to one.

    Raises:
        OutputError: another process writes it, it cannot be written, or it is for something else and `force` does not
            allow to replace that.

    """
    try:
        links.followed(root).mkdir(parents=True, exist_ok=True)
        with locks.held(root / LOCK_FILE, root):
            _OPEN[root.resolve()] = _Open(root, shared, force=force)
            try:
                yield
            finally:
                del _OPEN[root.resolve()]
    except OSError as error:
        if not blame.concerns(error, root, root.resolve()):
            raise
        raise OutputError(
            f"cannot write results to {root}: {atomic.reason(error)}",
            "finished parts are kept; the same command resumes",
            code="unwritable",
            file=root,
        ) from error


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file completely or not at all; into an open folder, but never over a file of someone else's.

    Raises:
        OutputError: it cannot be written; what was there before stays.

    """
    folder = _OPEN.get(path.parent.resolve())
    if folder is None:
        atomic.remove_leftovers(path.parent, path.name + ".")
        atomic.write_bytes(path, content)
    else:
        folder.write(path.name, content)


def lists(path: Path) -> bool:
    """Whether Octavo wrote a file of an open folder."""
    folder = _OPEN.get(path.parent.resolve())
    return folder is not None and folder.lists(path.name)


def remove(path: Path) -> None:
    """Remove a file of an open folder, if Octavo wrote it."""
    _OPEN[path.parent.resolve()].remove(path.name)


class _Open:
    def __init__(self, root: Path, shared: Shared, *, force: bool) -> None:
        self._root = root
        links.inside(root, MANIFEST_FILE)
        found = _found(root, shared, force=force)
        atomic.remove_leftovers(root)
        if found.key == shared.key:
            self._manifest = found
            return
        for name in ours.plain(root, found.files):
            (root / name).unlink(missing_ok=True)
        self._save(Manifest(shared.kind, {}, shared.key))

    def write(self, name: str, content: bytes) -> None:
        path = links.inside(self._root, name)
        if name not in self._manifest.files and (path.exists() or path.is_symlink()):
            raise OutputError(
                f"cannot write {path}: it is there already, and Octavo did not write it",
                "move it away, then go on",
                code="exists",
                file=path,
            )
        if self._manifest.files.get(name) is not None and path.is_file() and path.read_bytes() == content:
            return
        self._save(self._manifest.having(name, None))
        atomic.write_bytes(path, content)
        self._save(self._manifest.having(name, digest.entry(path)))

    def lists(self, name: str) -> bool:
        return name in self._manifest.files

    def remove(self, name: str) -> None:
        if name in self._manifest.files:
            links.inside(self._root, name).unlink(missing_ok=True)
            self._save(self._manifest.without(name))

    def _save(self, found: Manifest) -> None:
        self._manifest = found
        atomic.write_bytes(self._root / MANIFEST_FILE, found.text().encode())


def _found(root: Path, shared: Shared, *, force: bool) -> Manifest:
    """The manifest of the folder, with the key of its experiment."""
    try:
        found = manifest.read(root) or Manifest(shared.kind, {})
    except DamagedError:
        if not force:
            raise
        found = Manifest(shared.kind, dict.fromkeys(ours.names(root, ()) - {MANIFEST_FILE}))
    _check_others(root, shared, found)
    if found.kind != shared.kind:
        raise OutputError(
            f"{root} holds another kind of result: expected {shared.kind}, found {found.kind}",
            _OTHER,
            code="other-result",
            file=root,
            expected=shared.kind,
            found=found.kind,
        )
    if found.key not in (None, shared.key) and not force:
        raise OutputError(
            f"{root} already holds another {shared.kind}",
            "choose another folder with -o, or replace it with --force",
            code="other-result",
            file=root,
        )
    return found


def _check_others(root: Path, shared: Shared, found: Manifest) -> None:
    """Make sure, before anything is computed, that no file of someone else's has a name that Octavo writes."""
    doubtful = [root / name for name in sorted(ours.plain(root, shared.known) - set(found.files))]
    if doubtful:
        raise OutputError(
            f"cannot write results to {root}: nothing says that Octavo wrote {ours.listed(doubtful)}",
            "remove these files if they are Octavo's, or choose another folder with -o",
            file=root,
            code="not-ours",
            found=doubtful,
        )
