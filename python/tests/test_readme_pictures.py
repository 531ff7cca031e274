"""The pictures of the README show what runs give today."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def load():
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "tools" / "docs" / "pictures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PICTURES = load()
NOTES = json.loads(PICTURES.NOTES.read_text())


@pytest.mark.parametrize("name", sorted(PICTURES.PICTURES))
def test_the_data_behind_a_picture_are_those_it_was_drawn_from(name, tmp_path):
    assert PICTURES.hash_of(PICTURES.IMAGES / name) == NOTES[name]["picture"], f"{name} was not made by `make docs`"
    data = PICTURES.PICTURES[name](tmp_path / "data")
    assert data == NOTES[name]["data"], f"the data behind {name} changed: `make docs` draws it again"


def test_every_picture_of_the_readme_is_one_of_these():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = {part.split(")")[0] for part in text.split("](docs/images/")[1:]}
    assert shown == set(NOTES) == set(PICTURES.PICTURES)


def test_pictures_of_the_documentation_have_a_palette():
    """They are read and copied by everyone: `tools/docs/palette.py` keeps them small."""
    pictures = sorted(PICTURES.IMAGES.glob("*.png"))
    colours = {picture.name: picture.read_bytes()[25] for picture in pictures}
    assert len(colours) > 5
    assert set(colours.values()) == {3}, colours
