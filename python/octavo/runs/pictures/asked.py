"""Pictures beside tables: in which formats, and how wide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo import extras, given
from octavo.errors import ScenarioError
from octavo.files import shared
from octavo.runs.pictures import sheet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Asked:
    """What pictures of an experiment are to be."""

    formats: tuple[str, ...] = ("png",)
    width: float = sheet.PAGE
    """In inches."""


def asked(formats: Sequence[str] | str | None, width: float | None) -> Asked:
    """What was asked for: PNG files as wide as a page where nothing was said.

    Raises:
        ScenarioError: a format is unknown.
        OutputError: nothing can be drawn so narrow or so wide.
        ExtraError: formats are named, and Matplotlib is not installed.

    """
    named = given.names("pictures", formats)
    if named is not None:
        extras.need("matplotlib")
    if width is not None:
        sheet.check_width(width, "--picture-width")
    found = tuple(dict.fromkeys(given.choice("pictures", name, sheet.FORMATS) for name in named or ("png",)))
    return Asked(found, sheet.PAGE if width is None else width)


def check_kept(formats: object, width: object, *, kept: bool) -> None:
    """Refuse wishes about pictures that nothing keeps.

    Raises:
        ScenarioError: there are any, and no folder.

    """
    if not kept and (formats is not None or width is not None):
        raise ScenarioError("no pictures without a folder: expected `output` beside pictures", "name one, or plot()")


def save(picture: sheet.Picture, root: Path, name: str, wanted: Asked) -> list[Path]:
    """Write a picture into an open folder, in the formats asked for and in those it is there in: no file gets stale.

    Raises:
        OutputError: a file cannot be written.

    """
    paths = {kind: root / f"{name}.{kind}" for kind in sheet.FORMATS}
    return [picture.save(path) for kind, path in paths.items() if kind in wanted.formats or shared.lists(path)]
