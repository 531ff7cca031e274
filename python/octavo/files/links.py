"""Symbolic links: followed if the user names one, never inside a folder of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.errors import OutputError

if TYPE_CHECKING:
    from pathlib import Path


def followed(path: Path) -> Path:
    """Follow a symbolic link that was named as the output, so that the link itself stays.

    Raises:
        OutputError: the link leads nowhere, or there is a device.

    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OutputError(
            f"cannot write {path}: it is neither a file nor a folder",
            "choose another place with -o",
            code="unwritable",
            file=path,
        )
    if not path.is_symlink():
        return path
    if not path.exists():
        raise OutputError(
            f"cannot write {path}: it is a symbolic link to {path.readlink()}, which does not exist",
            "make what it leads to, or choose another place with -o",
            code="link",
            file=path,
        )
    return path.resolve()


def inside(root: Path, *parts: str) -> Path:
    """A path below `root`, with no link on the way that leads elsewhere.

    Raises:
        OutputError: there is a symbolic link.

    """
    at = root
    for part in parts:
        at /= part
        if at.is_symlink():
            raise OutputError(
                f"cannot write to {root.joinpath(*parts)}: {at} is a symbolic link to {at.readlink()}, and links are "
                "not followed out of a folder of results",
                "remove the link, or choose another folder with -o",
                code="link",
                file=at,
            )
    return at
