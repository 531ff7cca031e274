"""Pictures beside tables: in which formats, and how wide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo import checks, extras
from octavo.errors import ScenarioError
from octavo.files import folder_locks
from octavo.runs.pictures import sheet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Asked:
    """The formats and the width of an experiment's pictures."""

    formats: tuple[str, ...] = ("png",)
    width: float = sheet.PAGE
    """In inches."""
    said: bool = False
    """Whether the user set any of these options, and so expects a picture."""


USUAL = Asked()
"""Where nothing was said."""


def asked(formats: Sequence[str] | str | None, width: float | None) -> Asked:
    """The requested pictures: by default PNG files as wide as a page.

    Raises:
        ScenarioError: a format is unknown, or nothing can be drawn so narrow or so wide.
        ExtraError: something was said, and Matplotlib is not installed.

    """
    if formats is None and width is None:
        return USUAL
    named = checks.names("pictures", formats) or USUAL.formats
    found = tuple(dict.fromkeys(checks.choice("pictures", name, sheet.FORMATS) for name in named))
    inches = sheet.checked_width("picture-width", width)
    extras.need("matplotlib")
    return Asked(found, inches, said=True)


def check_kept(formats: object, width: object, *, kept: bool) -> None:
    """Refuse options for pictures if no folder keeps them.

    Raises:
        ScenarioError: there are any, and no folder.

    """
    if not kept:
        refuse(formats, width, "expected `output`, the folder that pictures go into, found none", "name one")


def refuse(formats: object, width: object, why: str, hint: str) -> None:
    """Refuse options for pictures if there are none to draw; an empty request is no option.

    Raises:
        ScenarioError: there are any; it names the first argument that was given.

    """
    named = [name for name, value in (("pictures", formats), ("picture-width", width)) if value is not None]
    if named:
        raise ScenarioError(f"--{named[0]}: {why}", hint, key=named[0])


def save(picture: sheet.Picture, root: Path, name: str, wanted: Asked) -> list[Path]:
    """Write a picture into an open folder, in the requested formats and in each format that exists there already.

    Raises:
        OutputError: a file cannot be written.

    """
    paths = {kind: root / f"{name}.{kind}" for kind in sheet.FORMATS}
    return [picture.save(path) for kind, path in paths.items() if kind in wanted.formats or folder_locks.lists(path)]
