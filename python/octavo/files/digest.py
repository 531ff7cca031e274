"""Sizes and hashes of files, and syncing files to the disk."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_PIECE = 1 << 20
_DIGEST_BYTES = 16
"""Our choice: two different files have the same 128 bits once in 10^38."""


@dataclass(frozen=True)
class Entry:
    """The size and the hash of a file when it was written."""

    bytes: int
    blake2b: str
    """Hexadecimal, 128 bits."""

    def __str__(self) -> str:
        return f"{self.bytes:,} bytes with BLAKE2b {self.blake2b}"


def entry(path: Path) -> Entry:
    """The present size and hash of a file; it is read again only if it has changed."""
    found = path.stat()
    return _hashed(path.absolute(), found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


@lru_cache(maxsize=4096)
def _hashed(path: Path, _inode: int, _size: int, _modified: int, _changed: int) -> Entry:
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    size = 0
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
            size += len(piece)
    return Entry(size, digest.hexdigest())


def of_text(text: str) -> str:
    """The hash of a text."""
    return of_bytes(text.encode())


def of_bytes(content: bytes) -> str:
    """The hash of a content."""
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()


def sync(path: Path) -> None:
    """Wait until a file, or the list of names in a folder, is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
