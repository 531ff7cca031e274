"""Files that may be packed with xz, as NAME.xz instead of NAME: records of GPUs shrink to a twentieth."""

from __future__ import annotations

import errno
import lzma
from typing import TYPE_CHECKING

from octavo.files.text import read_bytes

if TYPE_CHECKING:
    from pathlib import Path

_FIRST_BYTES = b"\xfd7zXZ\0"
_MOST_MEMORY = 80 << 20
"""More than `xz -9` needs, as for packed traces."""


def place(path: Path) -> Path:
    """The file that exists: the packed one if the other does not."""
    packed = path.with_name(f"{path.name}.xz")
    return packed if packed.is_file() and not path.exists() else path


def read(path: Path, expected: str, most: int) -> bytes:
    """The content of a file, unpacked if its first bytes show that it is packed.

    Raises:
        OSError: it cannot be read or unpacked, or has more bytes than `most`.

    """
    content = read_bytes(path, expected, most)
    return _unpacked(content, path, expected, most) if content.startswith(_FIRST_BYTES) else content


def _unpacked(content: bytes, path: Path, expected: str, most: int) -> bytes:
    unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MOST_MEMORY)
    try:
        found = unpacker.decompress(content, most + 1)
    except lzma.LZMAError as error:
        raise OSError(errno.EINVAL, f"expected {expected}, packed with xz: {error}", str(path)) from None
    if len(found) > most:
        raise OSError(errno.EFBIG, f"expected {expected}, found more than {most >> 20} MiB", str(path))
    if not unpacker.eof or unpacker.unused_data:
        what = "something after it" if unpacker.eof else "no end of it"
        raise OSError(errno.EINVAL, f"expected {expected}, packed with xz, found {what}", str(path))
    return found
