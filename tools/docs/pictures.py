"""Draw the pictures of the README again where the data behind them changed, and note which data that is.

python tools/docs/pictures.py [--all]     # report.png needs Chromium and the `check` packages

`docs/images/pictures.json` holds a hash of each picture and of the data that it was drawn from; a test makes the data
again and compares.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

import octavo
from octavo.report import report

if TYPE_CHECKING:
    from collections.abc import Callable

IMAGES = Path(__file__).parents[2] / "docs" / "images"
NOTES = IMAGES / "pictures.json"


def speedup(folder: Path, picture: Path | None = None) -> str:
    """Six placements of one kernel: the hash of their times, and the picture if one is wanted."""
    placements = ["on-touch", "access-counter", "duplication", "first-touch", "grit", "ideal"]
    overrides = {"record.events": False}
    found = octavo.compare(
        workloads=["stencil2d"], placements=placements, scale=1 / 16, overrides=overrides, output=folder
    )
    if picture is not None:
        shutil.copy(folder / "speedup.png", picture)
    return _hash(found.points.select("workload", "variant", "time_ps").write_csv())


def maps(folder: Path, picture: Path | None = None) -> str:
    """The page maps of one kernel under two placements: the hash of their events, and the picture if one is wanted."""
    runs = [folder / placement for placement in ("on-touch", "grit")]
    results = [octavo.run(workload="bfs-shoc", placement=run.name, scale=1 / 16, output=run) for run in runs]
    if picture is not None:
        _photograph(report(runs, folder / "report.html"), picture)
    events = [result.table("events").with_columns(pl.col("kind").cast(pl.String)) for result in results]
    return _hash("".join(table.write_csv() for table in events))


PICTURES: dict[str, Callable[..., str]] = {"speedup.png": speedup, "report.png": maps}
"""What draws each picture, and tells the hash of its data."""


def main() -> None:
    """Draw what is to be drawn."""
    import palette  # noqa: PLC0415 - beside this file, which tests load from elsewhere

    notes = json.loads(NOTES.read_text()) if NOTES.is_file() else {}
    for name, draw in PICTURES.items():
        picture = IMAGES / name
        with tempfile.TemporaryDirectory() as folder:
            data = draw(Path(folder) / "data")
        if "--all" not in sys.argv[1:] and notes.get(name) == {"data": data, "picture": hash_of(picture)}:
            continue
        with tempfile.TemporaryDirectory() as folder:
            draw(Path(folder) / "picture", picture)
        palette.keep(picture, picture)
        notes[name] = {"data": data, "picture": hash_of(picture)}
        print(f"{picture} is drawn again: look at it")
    NOTES.write_text(json.dumps(notes, indent=2) + "\n")


def hash_of(picture: Path) -> str:
    """Of the bytes of a file; of nothing if it is missing."""
    return hashlib.sha256(picture.read_bytes() if picture.is_file() else b"").hexdigest()


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _photograph(page_file: Path, picture: Path) -> None:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only where the picture is drawn

    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit(f"{picture} shows other data than today's, and no chromium draws it: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--headless", "--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.goto(page_file.as_uri())
        page.wait_for_selector("html[data-charts=drawn]")
        page.get_by_role("button", name="Second map").click()
        page.mouse.move(0, 0)  # Nothing is pointed at.
        page.wait_for_timeout(500)
        page.locator(".maps").screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main()
