"""Tutorials run from the first cell to the last and print what is stored; `OCTAVO_WRITE_TUTORIALS=1` stores it anew."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

TUTORIALS = sorted((Path(__file__).parents[2] / "docs" / "tutorials").glob("*.ipynb"))


def test_there_is_something_to_test():
    assert TUTORIALS


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_prints_what_is_stored(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    stored, about = printed(notebook), dict(notebook.metadata)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    if os.environ.get("OCTAVO_WRITE_TUTORIALS"):
        for cell in notebook.cells:
            cell.metadata.pop("execution", None)  # When it was run.
        notebook.metadata = about
        nbformat.write(notebook, path)
        stored = printed(notebook)
    assert any(stored)
    assert printed(notebook) == stored


def printed(notebook: Any) -> list[str]:
    """What each cell of code printed, as text."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return ["".join(each.get("text") or each["data"]["text/plain"] for each in cell.outputs) for cell in cells]
