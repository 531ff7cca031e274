"""What happened to the buffers of a recorded program, on the page of its advice."""

from __future__ import annotations

import json
from types import SimpleNamespace

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


def told(*steps):
    """What is told of a program with one buffer."""
    buffer = SimpleNamespace(name="a", size=4096, present="device", known=None)
    plan = SimpleNamespace(buffers=[SimpleNamespace(buffer=buffer, placement="device")])
    profile = {"kernels": [{"name": "k", "blocks": 1, "threads_per_block": 32}], "steps": steps}
    return timeline.document(SimpleNamespace(profile=profile, rows=[[{"number": 1}]], moves=[None]), plan)


COPIED = {"step": "copied", "to": 1, "from": None, "bytes": 64}
LAUNCHED = {"step": "launch", "kernel": 0, "ns": 1000, "gap_ns": None, "buffers": [1]}


@pytest.mark.parametrize(("before", "launches"), [(0, 3), (10, 3), (60_000, 0)])
def test_a_long_program_is_told_from_its_beginning(before, launches):
    found = told(*[COPIED] * before, *[LAUNCHED] * 3)
    assert (found["launches"], found["of"]) == (launches, 3)
    assert len(found["marks"]) == (before + 3 if launches else 2000)
    assert len(told(LAUNCHED, *[COPIED] * before)["marks"]) == min(before + 1, 2000)
    assert told(*[COPIED] * before, {**LAUNCHED, "ns": None}) is None


def test_a_page_says_so_if_no_launch_is_drawn(advised, tmp_path):
    drawn = json.loads((advised / timeline.FILE).read_text())
    (advised / timeline.FILE).write_text(json.dumps({**drawn, "launches": 0}))
    with chromium() as browser:
        watched = Watched(browser, report([advised], tmp_path / "page.html"))
        happened = watched.drawn().locator("#advice .card", has_text="before the first of 5 launches")
        assert happened.count() == 1
        assert watched.complaints == []


@pytest.mark.parametrize("text", ["{", "[]", '{"marks": 3}'])
def test_what_is_damaged_is_named(advised, tmp_path, text):
    (advised / timeline.FILE).write_text(text)
    with refused("damaged", octavo.DamagedError, file=timeline.FILE):
        report([advised], tmp_path / "page.html")
