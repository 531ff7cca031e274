"""The manifest of a folder: what Octavo wrote there, with sizes and hashes; written last.

`octavo-manifest.json` has `format` (1), `kind` (what the folder is) and `key` (which one, for experiments). `files` has
the size and the BLAKE2b hash of each file, or null for one that is being written. `check` is a hash of all of it.
"""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from octavo.errors import DamagedError
from octavo.files import digest
from octavo.files.digest import Entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

MANIFEST_FILE = "octavo-manifest.json"
_FORMAT = 1
_ENTRY = re.compile(
    r'("(?:[^"\\\n]|\\["\\/bfnrt]|\\u[0-9a-f]{4})*"):\s*\{\s*"bytes":\s*(\d+),\s*"blake2b":\s*"([0-9a-f]{32})"'
)
"""An entry for one file, as `Manifest.text` writes it."""
_AGAIN = "make it again with --force, or restore the file"


@dataclass(frozen=True)
class Manifest:
    """What Octavo wrote into one folder."""

    kind: str
    """`run`, `profile`, `trace`, `experiment` or `sweep`."""
    files: Mapping[str, Entry | None]
    """By name; None for a file that is being written."""
    key: str | None = None
    """Which experiment it is."""

    def text(self) -> str:
        """The text of the file."""
        files = {name: None if found is None else asdict(found) for name, found in sorted(self.files.items())}
        body = {"format": _FORMAT, "kind": self.kind, "key": self.key, "files": files}
        return json.dumps({**body, "check": digest.of_text(json.dumps(body))}, indent=1) + "\n"

    def having(self, name: str, found: Entry | None) -> Manifest:
        """The same with one more file, or with a new one of that name."""
        return replace(self, files={**self.files, name: found})

    def without(self, name: str) -> Manifest:
        """The same without a file."""
        return replace(self, files={other: found for other, found in self.files.items() if other != name})


def of_files(folder: Path, kind: str) -> Manifest:
    """The manifest of everything in a folder; it waits until all of it is on the disk."""
    paths = sorted(path for path in folder.iterdir() if path.name != MANIFEST_FILE)
    with ThreadPoolExecutor(max_workers=len(paths) or 1) as pool:  # The disk takes them together.
        list(pool.map(digest.sync, paths))
    return Manifest(kind, {path.name: digest.entry(path) for path in paths})


def read(folder: Path) -> Manifest | None:
    """The manifest of a folder; None if there is none, as in traces that other programs recorded.

    Raises:
        DamagedError: it is damaged, or of another format.

    """
    path = folder / MANIFEST_FILE
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise DamagedError(f"cannot read {path}: {error.strerror}", file=path) from None
    except (ValueError, RecursionError):
        raise DamagedError(f"{path} is damaged: expected JSON, found something else", _AGAIN, file=path) from None
    return _checked(path, found)


def _checked(path: Path, found: Any) -> Manifest:
    if not isinstance(found, dict):
        raise DamagedError(
            f"{path} is damaged: expected a JSON object, found {type(found).__name__}", _AGAIN, file=path
        )
    expected, body = found.get("check"), {name: value for name, value in found.items() if name != "check"}
    if digest.of_text(json.dumps(body)) != expected:
        raise DamagedError(
            f"{path} is damaged: expected contents with `check` {expected}, found others", _AGAIN, file=path
        )
    if body.get("format") != _FORMAT:
        raise DamagedError(
            f"{path}: expected a manifest of format {_FORMAT}, found format {body.get('format')}",
            "another version of Octavo wrote it",
            file=path,
            expected=_FORMAT,
        )
    for name in body["files"]:
        if PurePath(name).name != name:
            raise DamagedError(
                f"{path} is damaged: expected names of files in the folder, found {name!r}",
                _AGAIN,
                file=path,
                found=name,
            )
    files = {name: None if value is None else Entry(**value) for name, value in body["files"].items()}
    return Manifest(body["kind"], files, body["key"])


def vouched(folder: Path) -> set[str]:
    """Files that even a damaged manifest vouches for: those that still match one of its entries.

    A file of someone else's would not have the size and the hash that the manifest lists for its name.
    """
    try:
        text = (folder / MANIFEST_FILE).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return set()
    entries = {json.loads(name): Entry(int(size), found) for name, size, found in _ENTRY.findall(text)}
    return {name for name, expected in entries.items() if PurePath(name).name == name and _is(folder / name, expected)}


def _is(path: Path, expected: Entry) -> bool:
    try:
        return path.stat().st_size == expected.bytes and digest.entry(path) == expected
    except OSError:
        return False


def verify(folder: Path, manifest: Manifest, names: Iterable[str] | None = None) -> None:
    """Make sure that some files, or all of them, are unchanged.

    Raises:
        DamagedError: one is not; it names the file, what was expected and what was found.

    """
    for name in manifest.files if names is None else names:
        path, expected = folder / name, manifest.files.get(name)
        if expected is None:
            what = "a file that the manifest lists" if name not in manifest.files else "a finished file"
            found = "one that it does not" if name not in manifest.files else "one that was being written"
            raise DamagedError(
                f"{path} is damaged: expected {what}, found {found}", _AGAIN, file=path, expected=what, found=found
            )
        try:
            if path.stat().st_size != expected.bytes:
                raise DamagedError(
                    f"{path} is damaged: expected {expected.bytes:,} bytes, found {path.stat().st_size:,}",
                    _AGAIN,
                    file=path,
                    expected=expected.bytes,
                )
            actual = digest.entry(path)
        except FileNotFoundError:
            raise DamagedError(
                f"{path} is missing: expected {expected}, found no file",
                _AGAIN,
                code="missing",
                file=path,
                expected=expected,
            ) from None
        except OSError as error:
            raise DamagedError(f"cannot read {path}: {error.strerror}", file=path) from None
        if actual != expected:
            raise DamagedError(
                f"{path} is damaged: expected {expected}, found {actual}",
                _AGAIN,
                file=path,
                expected=expected,
                found=actual,
            )
