"""A headless browser for tests of pages: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

_ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser; without one tests are skipped, unless `OCTAVO_BROWSER=required` (which `.ci/run` sets) forbids it."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        if os.environ.get("OCTAVO_BROWSER") == "required":
            pytest.fail("no chromium found: apt-get install chromium")
        pytest.skip("no chromium found: install it (Debian: apt-get install chromium) to test pages")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only where there is a browser

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_ARGUMENTS)
        yield browser
        browser.close()


def until(page: Page, holds: str) -> None:
    """Wait until an expression holds, asked from outside: within the page, Playwright would make code of text.

    Raises:
        AssertionError: it does not within ten seconds.

    """
    for _ in range(200):
        if page.evaluate(holds):
            return
        page.wait_for_timeout(50)
    raise AssertionError(holds)


class Watched:
    """A page that is opened from disk, with everything that went wrong in it or that it asked a network for."""

    def __init__(self, browser: Browser, path: Path, **options: object) -> None:
        context = browser.new_context(viewport={"width": 1400, "height": 900}, **options)
        self.page: Page = context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._see)
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-ready=true]")

    def drawn(self) -> Page:
        """The page, once every chart is drawn."""
        self.page.wait_for_selector("html[data-charts=drawn]")
        return self.page

    def _hear(self, message: object) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def _see(self, request: object) -> None:
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.complaints.append(f"asked for {request.url}")
