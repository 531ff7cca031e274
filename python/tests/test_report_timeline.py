"""What happened to the buffers of a recorded program, on the page of its advice."""

from __future__ import annotations

import json

import pytest
from browser import Watched, chromium
from conftest import refused

import octavo
from octavo.advice import timeline
from octavo.report import report


@pytest.fixture
def advised(tmp_path):
    """Advice with marks beside it, as if it were on a recording."""
    octavo.advise("vectoradd", scale=1 / 256, quick=True, output=tmp_path / "advised")
    happened = ((timeline.WROTE, 0.5, 0.5), (timeline.BRING, 1.0, 1.0), (timeline.LAUNCH, 1.0, 2.0))
    marks = [
        {"label": f"a buffer of {size} bytes", "what": what, "from": begin, "to": end, "about": "about <it>"}
        for size in (1 << 40, 4)
        for what, begin, end in happened
    ]
    (tmp_path / "advised" / timeline.FILE).write_text(json.dumps({"marks": marks, "launches": 1, "of": 5}))
    return tmp_path / "advised"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_happened_is_a_chart_for_narrow_screens_too(advised, tmp_path, scheme):
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415 - only where there is a browser

    with chromium() as browser:
        watched = Watched(browser, report([advised], tmp_path / "page.html"), color_scheme=scheme)
        watched.page.set_viewport_size({"width": 420, "height": 800})
        page = watched.drawn()
        assert page.evaluate("document.documentElement.scrollWidth") <= 420
        happened = page.locator("#advice .card", has_text="the first 1 of 5 launches")
        # The legend has what there is.
        legend = happened.locator("svg .role-legend-label text").all_text_contents()
        assert legend == [timeline.LAUNCH, timeline.WROTE, timeline.BRING]
        assert happened.locator("svg .mark-rect.role-mark path").count() == 2
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        happened.locator("svg .mark-symbol.role-mark path").first.hover()
        assert "about <it>" in page.locator("#vg-tooltip-element").inner_text()
        assert watched.complaints == []


@pytest.mark.parametrize("text", ["{", "[]", '{"marks": 3}'])
def test_what_is_damaged_is_named(advised, tmp_path, text):
    (advised / timeline.FILE).write_text(text)
    with refused("damaged", octavo.DamagedError, file=timeline.FILE):
        report([advised], tmp_path / "page.html")
