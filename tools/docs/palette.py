"""Keep a picture for the documentation, in 256 colours: it has a third of the bytes.

python tools/docs/palette.py FROM.png... [-o docs/images]     # in place if no folder is named
"""

from __future__ import annotations

import argparse
from pathlib import Path

from PIL import Image


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pictures", type=Path, nargs="+", metavar="FROM.png")
    parser.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="where they go, by the same names")
    arguments = parser.parse_args()
    for picture in arguments.pictures:
        keep(picture, (arguments.output or picture.parent) / picture.name)


def keep(source: Path, target: Path) -> None:
    """Write a picture with a palette; one that has a palette stays as it is."""
    with Image.open(source) as picture:
        with_palette = picture if picture.mode == "P" else reduced(picture)
        with_palette.save(target, optimize=True)


def reduced(picture: Image.Image) -> Image.Image:
    """The nearest of 256 colours for each pixel; charts have few more."""
    return picture.convert("RGB").quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)


if __name__ == "__main__":
    main()
