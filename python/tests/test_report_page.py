"""A report in a browser: it renders, zooms, filters, tells pages' histories, and everyone can use it."""

from __future__ import annotations

import itertools
import json
import shutil
import sys
from importlib.resources import files

import numpy as np
import polars as pl
import pytest
from browser import Watched, chromium, until
from conftest import SMALL, refused, sealed_anew
from nsys_exports import saxpy

import octavo
from octavo.measurements.imports import import_nsys
from octavo.measurements.profile import profile
from octavo.report import report
from octavo.runs.events import KINDS

SECTIONS = [
    *("Why", "Speed-up", "Time by cause", "Stalls", "Page map", "Over time"),
    *("Translation", "Memory in use", "Allocations", "Runs"),
]


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    for placement in ("on-touch", "grit"):
        interval = {"record.interval": "50us"}
        octavo.run(workload="stencil2d", placement=placement, scale=SMALL, overrides=interval, output=root / placement)
    return root


@pytest.fixture(scope="module")
def path(runs):
    return report([runs / "on-touch", runs / "grit"], runs / "report.html")


@pytest.fixture(scope="module")
def of_two_workloads(runs, tmp_path_factory):
    """A report whose runs have long names, the first one with buffers of one page at both ends."""
    root = tmp_path_factory.mktemp("two")
    octavo.run(workload="fir", placement="access-counter", scale=SMALL, output=root / "fir")
    slow = {"node.driver.service.service": "5us"}
    octavo.run(workload="stencil2d", placement="duplication", scale=SMALL, overrides=slow, output=root / "stencil2d")
    return report([root / "fir", root / "stencil2d", runs / "on-touch"], root / "two.html")


@pytest.fixture(scope="module")
def watched(browser, path):
    """One page for all tests that leave it as it was."""
    return Watched(browser, path)


def canvas(page):
    return page.get_by_role("application").first


def painted(page):
    """Waits until what was asked for is drawn, which happens in the next frame."""
    page.evaluate("new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))")


def seen(page):
    """Pages and ticks of time that the page map shows."""
    painted(page)
    return int(canvas(page).get_attribute("data-pages")), int(canvas(page).get_attribute("data-span"))


def colours(page):
    """How often each colour stands in the picture of the page map."""
    return page.evaluate("""() => {
        const canvas = document.querySelector("canvas");
        const image = canvas.getContext("2d").getImageData(200, 20, canvas.width - 220, canvas.height - 60);
        const pixels = new Uint32Array(image.data.buffer);
        const counts = {};
        for (const pixel of pixels) counts[pixel] = (counts[pixel] ?? 0) + 1;
        return counts;
    }""")


def test_every_section_is_there_and_nothing_went_wrong(watched):
    page = watched.drawn()
    assert page.get_by_role("heading", level=2).all_inner_texts() == SECTIONS
    assert page.get_by_role("navigation").get_by_role("link").all_inner_texts() == SECTIONS
    charts = page.locator(".plot[role=graphics-document]")
    assert charts.count() >= 12
    for chart in charts.all():
        assert chart.get_attribute("aria-label")
        assert chart.locator("path, rect, line").count() > 3
    found = page.locator(".findings").inner_text()
    assert "grit is the fastest" in found or "on-touch is" in found
    assert "Most of its accesses' time goes on " in found
    assert watched.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_are_drawn_though_the_page_makes_no_code_of_text(browser, path, scheme):
    watched = Watched(browser, path, color_scheme=scheme)
    page = watched.drawn()
    assert "unsafe-eval" not in page.locator("meta[http-equiv=Content-Security-Policy]").get_attribute("content")
    asked = page.locator("figure:has(.chart)").count()
    assert page.locator(".chart .plot[role=graphics-document]:has(path, rect, line)").count() == asked >= 12
    assert watched.complaints == []
    # Later, as what a debugger runs itself may make code.
    page.evaluate("""() => setTimeout(() => {
        try { document.body.dataset.made = Function("return 'code'")(); }
        catch (error) { document.body.dataset.made = error.name; }
    })""")
    page.wait_for_selector("body[data-made]", state="attached")
    assert page.locator("body").get_attribute("data-made") == "EvalError"


def test_a_table_stands_behind_every_chart(watched):
    page = watched.drawn()
    charts = page.locator("figure:has(.chart)")
    for chart in charts.all():
        chart.locator("summary").click()
        chart.locator("table tbody tr").first.wait_for()
        chart.locator("summary").click()


def column(page, table, index):
    return table.locator(f"tbody tr > :nth-child({index})").all_inner_texts()


def test_tables_sort_by_what_their_cells_mean(watched):
    page = watched.drawn()
    table = page.locator("table:has(caption:text-is('Runs in numbers'))")
    heads = [text.strip() for text in table.locator("thead th").all_inner_texts()]
    time, name = heads.index("time") + 1, heads.index("run") + 1
    before = column(page, table, time)
    assert len(set(before)) > 1
    milliseconds = {
        text: float(text.split()[0].replace(",", "")) * {"µs": 1e-3, "ms": 1}[text.split()[1]] for text in before
    }
    button = table.get_by_role("button", name="time", exact=True)
    button.click()
    assert column(page, table, time) == sorted(before, key=milliseconds.get, reverse=True)
    assert table.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
    button.click()
    assert column(page, table, time) == sorted(before, key=milliseconds.get)
    table.get_by_role("button", name="run", exact=True).click()
    names = column(page, table, name)
    assert names == sorted(names)
    assert table.locator("th[aria-sort]").count() == 1
    assert watched.complaints == []


def test_cells_are_sorted_by_numbers_with_their_units(browser):
    source = files("octavo").joinpath("report", "page", "tables.js").read_text(encoding="utf-8")
    numbers = {"1,234": 1234, "12 %": 12, "12%": 12, "−3": -3, "999": 999}
    units = {"2.5 ms": 2.5e9, "30 µs": 30e6, "1.5 MiB": 1.5 * 1024**2, "512 B": 512}
    short = {"21.7K": 21700, "1.25M": 1.25e6, "3B": 3e9, "-4T": -4e12}
    cells = {**numbers, **units, **short, "–": None, "fir": "fir", "5Kx": "5Kx"}
    page = browser.new_page()
    found = page.evaluate(f"(cells) => {{ {source}; return cells.map(sortKey); }}", list(cells))
    assert found == list(cells.values())


def test_a_narrow_screen_scrolls_tables_and_nothing_else(browser, path):
    page = Watched(browser, path).page
    page.set_viewport_size({"width": 420, "height": 800})
    page.wait_for_selector("html[data-charts=drawn]")
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    lost = page.evaluate("""() => [...document.querySelectorAll("main *")].filter((one) => {
        const box = one.getBoundingClientRect();
        return box.width && box.right > 421 && !one.closest(".scroll, .chart, .map, .vega-embed, svg");
    }).map((one) => `${one.tagName}.${one.className}`)""")
    assert lost == []


@pytest.mark.parametrize("width", [420, 1200])
def test_long_names_of_runs_do_not_widen_the_page(browser, path, width):
    page = Watched(browser, path).page
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_selector("html[data-charts=drawn]")
    page.evaluate("""() => {
        document.querySelectorAll("option").forEach((one) => { one.text = "a long name ".repeat(30); });
        document.querySelectorAll("details.choice").forEach((one) => { one.open = true; });
    }""")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_narrow_screen_cuts_no_text_of_a_chart(browser, of_two_workloads):
    page = Watched(browser, of_two_workloads).page
    page.set_viewport_size({"width": 420, "height": 800})
    page.reload()
    page.wait_for_selector("html[data-charts=drawn]")
    cut = page.evaluate("""() => [...document.querySelectorAll(".chart svg text")].filter((one) => {
        const [box, chart] = [one, one.closest(".chart")].map((each) => each.getBoundingClientRect());
        const beyond = box.right > chart.right + 1 || box.left < chart.left - 1;
        return one.textContent && box.width && (beyond || one.textContent.endsWith("…"));
    }).map((one) => `${one.closest("section").querySelector("h2").textContent}: ${one.textContent}`)""")
    assert cut == []


BOXES = """(found) => found.filter((one) => one.tagName !== "text" || one.textContent).map((one) => {
    const { left, right, top, bottom } = one.getBoundingClientRect();
    return { text: one.textContent, left, right, top, bottom };
})"""
"""Where some marks are, and what they say; texts that say nothing are left out."""


@pytest.fixture(scope="module")
def of_programs(tmp_path_factory):
    """A report of whole programs."""
    root = tmp_path_factory.mktemp("programs")
    kinds = ["explicit", "managed", "pinned"]
    octavo.compare(workloads=["fir"], kinds=kinds, node="cuda-sm90", scale=SMALL, output=root)
    return report([root], root / "programs.html")


@pytest.fixture(params=["waits", "causes", "phases"])
def stacked(request):
    """A page with stacked bars, and where they are."""
    section = {"waits": "#why", "causes": "#time", "phases": "#phases"}[request.param]
    page = "of_programs" if request.param == "phases" else "path"
    return request.getfixturevalue(page), section


@pytest.mark.parametrize("width", [420, 1400])
def test_stacked_bars_carry_values_where_these_have_room(browser, stacked, width):
    path, section = stacked
    page = Watched(browser, path).page
    page.set_viewport_size({"width": width, "height": 900})
    page.reload()
    page.wait_for_selector("html[data-charts=drawn]")
    plot = page.locator(f"{section} figure .plot").first
    bars = plot.locator(".mark-rect.role-mark path").evaluate_all(BOXES)
    shares = plot.locator(".mark-text.layer_1_marks text").evaluate_all(BOXES)
    wholes = plot.locator(".mark-text.layer_2_marks text").evaluate_all(BOXES)
    assert any(box["text"].endswith("%") for box in shares), "the widest part of a bar has room for its share"
    assert len(wholes) == len({bar["top"] for bar in bars}), "each bar ends with its whole length"
    right = plot.bounding_box()["x"] + plot.bounding_box()["width"]
    for box in shares:
        assert any(bar["left"] <= box["left"] and box["right"] <= bar["right"] for bar in bars), box
    assert all(box["right"] <= right - 10 for box in wholes), "the axis goes on behind the longest bar"
    for one, other in itertools.combinations([*shares, *wholes], 2):
        apart = min(one["right"], other["right"]) <= max(one["left"], other["left"])
        assert apart or min(one["bottom"], other["bottom"]) <= max(one["top"], other["top"]), (one, other)


def test_bars_of_phases_that_overlap_carry_the_time_of_the_run(browser, of_programs, tmp_path):
    run = sorted((of_programs.parent / "runs" / "fir").iterdir())[0]
    folder = shutil.copytree(run, tmp_path / "overlapping")
    summary = json.loads((folder / "summary.json").read_text())
    summary["phases"]["kernels_ps"] = summary["time_ps"]
    (folder / "summary.json").write_text(json.dumps(summary))
    path = report([sealed_anew(folder)], tmp_path / "page.html")
    page = Watched(browser, path).drawn()
    (whole,) = page.locator("#phases figure .plot").first.locator(".mark-text.layer_2_marks text").all_text_contents()
    time = summary["time_ps"] / 1e9
    assert sum(summary["phases"].values()) / 1e9 > 1.05 * time
    assert float(whole) == pytest.approx(time, rel=0.01)


def test_names_of_small_buffers_stay_within_the_map(browser, of_two_workloads):
    page = Watched(browser, of_two_workloads).page
    page.evaluate("""() => {
        window.named = {};
        const write = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
            if (x === 6) window.named[text] = y;
            write.apply(this, arguments);
        };
    }""")
    page.set_viewport_size({"width": 1300, "height": 900})
    until(page, "window.named.history")
    names = page.evaluate("window.named")
    first, last = min(names.values()), max(names.values())
    height = page.evaluate("document.querySelector('canvas').clientHeight")
    assert first >= 16 + 7, "below the strip of kernels, with half a line of room"
    assert last <= height - 26 - 7, "above the axis of time"


def test_the_map_shows_owners_and_changes_with_what_is_coloured(watched):
    page = watched.drawn()
    pictures = []
    for layer in ("holder", "sharing", "access", "scheme", "requests", "copies"):
        page.select_option("#map-colour", layer)
        painted(page)
        pictures.append(colours(page))
    page.select_option("#map-colour", "holder")
    assert len(pictures[0]) >= 4, "the host and several GPUs own pages"
    assert len({tuple(sorted(picture.items())) for picture in pictures}) == len(pictures)


def test_the_map_zooms_with_the_mouse_and_back(watched):
    page = watched.drawn()
    canvas(page).scroll_into_view_if_needed()
    pages, span = seen(page)
    box = canvas(page).bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 500, box["y"] + 160, steps=3)
    page.mouse.up()
    near_pages, near_span = seen(page)
    assert near_pages < pages / 2
    assert near_span < span / 2
    assert canvas(page).get_attribute("data-near") == "true"
    page.mouse.wheel(0, -300)
    assert seen(page)[0] <= near_pages
    canvas(page).focus()
    page.mouse.wheel(0, -300)
    assert seen(page)[0] < near_pages
    page.get_by_role("button", name="Reset").click()
    assert seen(page) == (pages, span)


def test_an_allocation_or_an_address_can_be_gone_to(watched):
    page = watched.drawn()
    pages, _ = seen(page)
    page.select_option("#map-allocation", "0")
    assert seen(page)[0] < pages
    page.fill("#map-address", "0xfffffffff")
    page.press("#map-address", "Enter")
    assert page.eval_on_selector("#map-address", "box => box.validationMessage")
    page.fill("#map-address", "0x1000")
    page.press("#map-address", "Enter")
    assert not page.eval_on_selector("#map-address", "box => box.validationMessage")
    assert seen(page)[0] <= 48
    page.select_option("#map-allocation", "")


def test_a_click_opens_the_history_that_the_table_tells(watched, runs):
    page = watched.drawn()
    canvas(page).scroll_into_view_if_needed()
    box = canvas(page).bounding_box()
    page.mouse.click(box["x"] + 600, box["y"] + 150)
    past = page.locator(".past")
    past.wait_for(state="visible")
    address = int(past.locator("h3").inner_text().split()[1], 16)
    events = octavo.RunResult(runs / "on-touch").table("events")
    own = events.filter((pl.col("address") <= address) & (address < pl.col("address") + pl.col("pages") * 4096))
    assert own.height > 1
    assert past.locator("caption").inner_text() == f"{own.height:,} of {own.height:,} events"
    first = own.row(0, named=True)
    told = past.locator("tbody tr").first.inner_text()
    assert f"{first['time_ps'] // 1000 / 1000:,.3f} µs" in told
    assert first["kind"].replace("_", " ") in told
    past.get_by_label("migration").uncheck()
    fewer = own.filter(pl.col("kind") != "migration").height
    assert past.locator("caption").inner_text() == f"{fewer:,} of {own.height:,} events"
    past.get_by_role("button", name="Close").click()
    assert past.is_hidden()


def test_runs_can_be_left_out(watched):
    page = watched.drawn()
    cards = page.locator("#memory .card")
    assert cards.count() == 2
    page.get_by_role("checkbox", name="grit", exact=True).first.uncheck()
    assert cards.count() == 1
    page.wait_for_selector("html[data-charts=drawn]")
    page.get_by_role("checkbox", name="grit", exact=True).first.check()
    assert cards.count() == 2


def test_two_maps_show_the_same_pages(watched):
    page = watched.drawn()
    page.get_by_role("button", name="Second map").click()
    assert page.get_by_role("application").count() == 2
    page.get_by_role("button", name="Zoom in").click()
    painted(page)
    shown = [one.get_attribute("data-pages") for one in page.get_by_role("application").all()]
    assert shown[0] == shown[1]
    page.get_by_role("button", name="Reset").click()
    page.get_by_role("button", name="Second map").click()
    assert page.get_by_role("application").count() == 1


def test_the_keyboard_reaches_everything(browser, path):
    page = Watched(browser, path).drawn()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    canvas(page).focus()
    pages, span = seen(page)
    for key in ("ArrowDown", "ArrowRight", "Shift+ArrowDown", "+", "+"):
        page.keyboard.press(key)
    assert seen(page)[0] < pages
    page.keyboard.press("ArrowRight")
    assert "held by" in page.inner_text("#live")
    page.keyboard.press(".")
    assert seen(page)[1] < span / 4
    page.keyboard.press("Enter")
    page.locator(".past").wait_for(state="visible")
    assert page.evaluate("document.activeElement.tagName") == "H3"
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.tagName") == "CANVAS"
    page.keyboard.press("0")
    assert seen(page) == (pages, span)


EDGES = """(places) => {
    const marks = (one) => [...one.querySelectorAll(".mark-rect.role-mark > path")];
    const found = [...document.querySelectorAll(places)].flatMap(marks);
    return [...new Set(found.map((path) => getComputedStyle(path).stroke))];
}"""
"""Colours of the edges of rectangles in sections."""


def test_dark_is_dark_and_can_be_switched(browser, path):
    watched = Watched(browser, path, color_scheme="dark")
    page = watched.drawn()
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(paper)
    assert dark == "rgb(18, 22, 28)"
    assert page.evaluate(EDGES, "#why, #speed, #time") == ["rgb(165, 176, 189)"], "dark bars do not fade on dark paper"
    assert page.evaluate(EDGES, "#over-time") == ["none"], "cells of heat maps touch one another"
    page.get_by_role("button", name="Light").click()
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    assert page.evaluate(EDGES, "#why, #speed, #time") == ["none"]
    assert page.get_by_role("button", name="Light").get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name="Auto").click()
    page.emulate_media(color_scheme="light")
    until(page, f"{paper} === 'rgb(255, 255, 255)'")
    assert watched.complaints == []


def test_it_prints_light_and_without_buttons(browser, path):
    page = Watched(browser, path, color_scheme="dark").drawn()
    page.emulate_media(media="print")
    assert page.get_by_role("button", name="Second map").is_hidden()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert len(page.pdf()) > 50_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_to_complain_about(browser, path, scheme):
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415 - only where there is a browser

    page = Watched(browser, path, color_scheme=scheme).drawn()
    canvas(page).focus()
    page.keyboard.press("Enter")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_runs_without_events_or_samples_say_which_option_records_them(browser, tmp_path):
    overrides = {"record.events": False, "record.interval": "0ns"}
    octavo.run(workload="fir", scale=SMALL, overrides=overrides, output=tmp_path / "bare")
    watched = Watched(browser, report([tmp_path / "bare"], tmp_path / "bare.html"))
    text = watched.drawn().inner_text("main")
    assert "--set record.events=true" in text
    assert "--set record.interval=100us" in text
    assert watched.complaints == []


def many_events(folder, count, pages):
    """Replaces the events of a result by very many."""
    choose = np.random.default_rng(1)
    span = octavo.RunResult(folder).summary["time_ps"]
    fault = np.arange(count) % 2 == 0
    page = choose.integers(0, pages, count)
    gpu = choose.integers(1, 5, count)
    moves = pl.DataFrame({"page": page, "to": gpu, "fault": fault})
    held = moves.select(pl.col("to").shift(1, fill_value=0).over("fault", "page")).to_series().to_numpy()
    kinds = pl.Series(np.where(fault, 0, 3).astype(np.uint32))
    pl.DataFrame(
        {
            "time_ps": np.sort(choose.integers(0, span, count)).astype(np.uint64),
            "kind": kinds.replace_strict(range(len(KINDS)), KINDS, return_dtype=pl.Enum(KINDS)),
            "address": (page * 4096).astype(np.uint64),
            "pages": np.ones(count, np.uint64),
            "from": np.where(fault, gpu, held).astype(np.uint64),
            "to": np.where(fault, 0, gpu).astype(np.uint64),
        }
    ).write_parquet(folder / "events.parquet")
    allocation = pl.read_parquet(folder / "allocations.parquet").head(1)
    whole = allocation.with_columns(address=pl.lit(0, pl.UInt64), bytes=pl.lit(pages * 4096, pl.UInt64))
    whole.write_parquet(folder / "allocations.parquet")


def test_ten_million_events_fit_a_page_that_says_what_it_leaves_out(browser, runs, tmp_path):
    folder = tmp_path / "many"
    shutil.copytree(runs / "on-touch", folder)
    many_events(folder, 10_000_000, 32_768)
    sealed_anew(folder)
    path = report([folder], tmp_path / "many.html")
    assert path.stat().st_size <= 16 << 20
    watched = Watched(browser, path)
    page = watched.drawn()
    assert "of 10,000,000 events" in page.inner_text("#footer")
    assert canvas(page).get_attribute("data-near") == "false"
    assert len(colours(page)) >= 2
    page.fill("#map-address", "0x3456000")
    page.press("#map-address", "Enter")
    page.wait_for_selector("canvas[data-near=true]")
    canvas(page).focus()
    page.keyboard.press("Enter")
    page.locator(".past").wait_for(state="visible")
    assert "left out of this file" in page.inner_text(".past")
    assert watched.complaints == []


@pytest.mark.parametrize("beside", [False, True])
def test_profiles_of_real_programs_are_shown_as_far_as_they_go(browser, runs, tmp_path, beside):
    import_nsys(saxpy(tmp_path / "saxpy.sqlite"), tmp_path / "profile")
    path = report([tmp_path / "profile", *([runs / "grit"] if beside else [])], tmp_path / "profile.html")
    watched = Watched(browser, path)
    page = watched.drawn()
    left_out = () if beside else ("Speed-up", "Time by cause", "Stalls", "Why", "Translation")
    expected = [name for name in SECTIONS if name not in (*left_out, *(["Speed-up"] if beside else []))]
    assert page.get_by_role("heading", level=2).all_inner_texts() == expected
    assert "Profiles of real programs tell of faults" in page.inner_text("main")
    assert "saxpy.sqlite · profile" in page.inner_text("#runs")
    table = page.inner_text("#allocations")
    assert "managed 1" in table
    assert "1.5" in table
    page.select_option("#map-colour", "requests")
    painted(page)
    canvas(page).focus()
    page.keyboard.press("Enter")
    assert "migration" in page.inner_text("#pages")
    assert watched.complaints == []


@pytest.mark.parametrize("beside", [False, True])
def test_a_sampled_program_stands_beside_simulated_runs(browser, runs, tmp_path, beside):
    profile([sys.executable, "-c", "memory = b'x' * (64 << 20)"], tmp_path / "measured", every="5ms", name="mine")
    path = report([*([runs / "grit"] if beside else []), tmp_path / "measured"], tmp_path / "both.html")
    watched = Watched(browser, path)
    page = watched.drawn()
    left_out = {"Speed-up"} if beside else {"Speed-up", "Time by cause", "Stalls", "Why", "Translation", "Allocations"}
    expected = [name for name in SECTIONS if name not in left_out]
    assert page.get_by_role("heading", level=2).all_inner_texts() == expected
    assert "Programs that octavo profile sampled tell of memory in use" in page.inner_text("main")
    assert page.locator("#memory .plot[role=graphics-document]").count() == 1 + beside
    assert page.locator("#over-time .card", has_text="mine · profile").locator(".plot[role=graphics-document]").count()
    assert "Mappings of sampled programs that were largest in memory" in page.inner_text("#memory")
    assert watched.complaints == []


@pytest.fixture(scope="module")
def advised(runs):
    """Advice with the runs that it was checked by, and advice that nothing was run for."""
    both = runs / "advised", runs / "quick"
    octavo.advise("vectoradd", scale=1 / 256, placements=["managed", "prefetched"], output=both[0])
    changed = {"quick": True, "kind": "explicit", "budget": 0, "placements": ["device", "managed"]}
    octavo.advise("vectoradd", scale=1 / 256, output=both[1], **changed)
    return both


def test_advice_stands_above_its_runs(browser, advised, tmp_path):
    watched = Watched(browser, report([advised[0]], tmp_path / "advice.html"))
    page = watched.drawn()
    assert page.get_by_role("heading", level=2).all_inner_texts()[:3] == ["Why", "Advice", "Speed-up"]
    told = json.loads((advised[0] / "advice.json").read_text())
    rows = page.locator("#advice table").first.locator("tbody tr")
    assert rows.count() == len(told["buffers"])
    for row, buffer in zip(rows.all(), told["buffers"], strict=True):
        cells = row.locator("th, td").all_inner_texts()
        assert [cells[0], cells[2], cells[3], cells[6]] == [
            buffer[key] for key in ("name", "present", "advised", "why")
        ]
    assert "asked for" not in page.locator("#advice dd").nth(2).inner_text()
    assert page.locator("#advice svg").count() == 1
    checked = page.get_by_role("region", name="Placements of vectoradd that were simulated").locator("tbody tr")
    assert checked.count() == len(told["found"]["candidates"]) > 1
    assert watched.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_advice_alone_is_a_page_for_narrow_screens_too(browser, advised, tmp_path, scheme):
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415 - only where there is a browser

    # Without the runs that told facts nothing but advice is left.
    (tmp_path / "alone").mkdir()
    shutil.copy(advised[1] / "advice.json", tmp_path / "alone")
    watched = Watched(browser, report([tmp_path / "alone"], tmp_path / "alone.html"), color_scheme=scheme)
    watched.page.set_viewport_size({"width": 420, "height": 800})
    page = watched.drawn()
    assert page.get_by_role("heading", level=2).all_inner_texts() == ["Advice"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    page.get_by_text("What to write").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert watched.complaints == []


def test_advice_that_is_damaged_is_named(advised, tmp_path):
    (tmp_path / "advice.json").write_text((advised[1] / "advice.json").read_text()[:-9])
    with refused("damaged", octavo.OutputError, file="advice.json"):
        report([tmp_path], tmp_path / "page.html")


def test_advice_that_was_changed_is_damaged(advised, tmp_path):
    folder = shutil.copytree(advised[1], tmp_path / "advice")
    text = (folder / "advice.json").read_text()
    (folder / "advice.json").write_text(text.replace("1", "2", 1))
    with refused("damaged", octavo.DamagedError, file="advice.json"):
        report([folder], tmp_path / "page.html")


def test_advice_whose_roofline_is_damaged_is_named(advised, tmp_path):
    told = json.loads((advised[1] / "advice.json").read_text())
    alpha = told["roofline"]["alpha"].pop()
    (tmp_path / "advice.json").write_text(json.dumps(told))
    with refused("damaged", octavo.DamagedError, file="advice.json"):
        report([tmp_path], tmp_path / "page.html")
    told["roofline"]["alpha"].append(alpha)
    told["buffers"][0]["advised"] = "moon"
    (tmp_path / "advice.json").write_text(json.dumps(told))
    with refused("damaged", octavo.DamagedError, file="advice.json"):
        report([tmp_path], tmp_path / "page.html")


def test_a_baseline_needs_runs(advised, tmp_path):
    shutil.copy(advised[1] / "advice.json", tmp_path)
    with refused("unexpected-value", octavo.ScenarioError, key="baseline"):
        report([tmp_path], tmp_path / "page.html", baseline="x")
    assert not (tmp_path / "page.html").exists()
