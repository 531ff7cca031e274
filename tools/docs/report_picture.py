"""Draw docs/images/report.png: the page maps of one kernel under two placements, side by side, in a report.

python tools/docs/report_picture.py     # needs Chromium and the `check` packages
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import octavo
from octavo.report import report

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "report.png"
WORKLOAD, SCALE, PLACEMENTS = "bfs-shoc", 1 / 16, ("on-touch", "grit")


def main() -> None:
    """Run, report, and photograph the maps."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("no chromium found: install it (Debian: apt-get install chromium)")
    with tempfile.TemporaryDirectory() as folder:
        runs = [Path(folder) / placement for placement in PLACEMENTS]
        for run, placement in zip(runs, PLACEMENTS, strict=True):
            octavo.run(workload=WORKLOAD, placement=placement, scale=SCALE, output=run)
        _photograph(report(runs, Path(folder) / "report.html"), chromium)


def _photograph(page_file: Path, chromium: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--headless", "--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.goto(page_file.as_uri())
        page.wait_for_selector("html[data-charts=drawn]")
        page.get_by_role("button", name="Second map").click()
        page.mouse.move(0, 0)  # Nothing is pointed at.
        page.wait_for_timeout(500)
        page.locator(".maps").screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
