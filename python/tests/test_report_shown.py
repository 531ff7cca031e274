"""What a report shows: one window of time everywhere, addresses that bring it back, replicates, sweeps, Perfetto."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from browser import Watched, chromium, until
from conftest import SMALL
from nsys_exports import saxpy

import octavo
from octavo.measurements.imports import import_nsys
from octavo.report import report
from octavo.report import sweep as sweeps
from octavo.report.data import gather
from octavo.report.runs import Run, read
from octavo.report.speed import speedups

SERVICES = ["1250ns", "2500ns", "5us"]
"""As resolved scenarios write 1.25, 2.5 and 5 µs."""


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    octavo.compare(
        workloads=["stencil2d"],
        placements=["on-touch", "grit"],
        scale=SMALL,
        replicates=3,
        overrides={"record.interval": "50us"},
        output=root,
    )
    return root


@pytest.fixture(scope="module")
def path(runs):
    return report([runs], runs / "report.html")


def ends(page):
    """The window of time as the page's fields tell it, in ms."""
    return [float(page.get_by_label(f"Time shown {end}, in ms").input_value()) for end in ("from", "to")]


def set_end(page, end, value):
    field = page.get_by_label(f"Time shown {end}, in ms")
    field.fill(str(value))
    field.press("Enter")
    page.wait_for_timeout(300)
    page.wait_for_selector("html[data-charts=drawn]")


def labels(page, card):
    """What the axis of time of a chart says."""
    return card.locator(".mark-text.role-axis-label").first.locator("text").all_text_contents()


def test_all_charts_and_both_maps_have_one_axis_of_time_and_a_crosshair(browser, path):
    watched = Watched(browser, path)
    page = watched.drawn()
    page.get_by_role("button", name="Second map").click()
    assert ends(page)[0] == 0
    set_end(page, "from", 0.5)
    set_end(page, "to", 1.5)
    timed = page.locator(".timed")
    assert timed.count() >= 8
    axes = {tuple(labels(page, chart)) for chart in timed.all()}
    assert len(axes) == 1, axes
    maps = page.get_by_role("application").all()
    assert {one.get_attribute("data-span") for one in maps} == {"1000000"}, "1 ms in nanoseconds"
    box = timed.first.bounding_box()
    timed.first.scroll_into_view_if_needed()
    box = timed.first.bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 60)
    times = page.eval_on_selector_all(".cross:not([hidden])", "all => all.map((one) => one.dataset.time)")
    assert len(times) == timed.count() + 2
    assert len(set(times)) == 1
    assert 0.5 < float(times[0].split()[0]) < 1.5
    maps[0].focus()
    page.keyboard.press(".")
    page.wait_for_timeout(300)
    assert ends(page)[1] - ends(page)[0] == pytest.approx(0.5)
    assert watched.complaints == []


def test_an_address_brings_back_what_was_shown(browser, path):
    page = Watched(browser, path).drawn()
    page.get_by_role("checkbox", name="on-touch", exact=True).uncheck()
    page.select_option("#map-colour", "sharing")
    page.select_option("#map-allocation", "1")
    set_end(page, "to", 0.75)
    page.locator("#over-time").scroll_into_view_if_needed()
    page.evaluate("document.querySelector('#over-time').scrollIntoView({ behavior: 'instant' })")
    # Not clicked: that scrolls.
    page.get_by_role("button", name="Copy the address of what is shown").dispatch_event("click")
    address = page.url
    assert address.split("#")[1].startswith("over-time?runs=1&time=0~0.75&maps=0&colour=sharing&pages=")
    shown = page.get_by_role("application").get_attribute("data-pages")

    again = browser.new_page()
    again.goto(address)
    again.wait_for_selector("html[data-charts=drawn]")
    assert ends(again) == [0, 0.75]
    assert again.locator("#memory .card").count() == 1
    assert again.input_value("#map-colour") == "sharing"
    assert again.get_by_role("application").get_attribute("data-pages") == shown
    assert again.evaluate(
        "Math.abs(document.querySelector('#over-time').getBoundingClientRect().top) < innerHeight / 2"
    )


@pytest.mark.parametrize(
    "address",
    [
        "#pages?runs=99&time=9~1&pages=x&maps=7&colour=mood&page=0xffff",
        "#pages?runs=0.5&maps=0.5&pages=0.5,1.5",
        "#?",
        "#nowhere",
    ],
)
def test_addresses_that_make_no_sense_do_no_harm(browser, path, address):
    watched = Watched(browser, path)
    # Elsewhere first: another address of the page that is shown would not load it again.
    watched.page.goto("about:blank")
    watched.page.goto(f"{path.as_uri()}{address}")
    watched.drawn()
    assert watched.complaints == []


def test_replicates_are_one_run_with_medians_and_intervals(browser, runs, path):
    found = read([runs])
    assert [run.variant for run in found] == ["grit", "on-touch"]
    assert [run.time.count for run in found] == [3, 3]
    assert [run.summary["time_ps"] for run in found] == [run.time.median for run in found]
    grit, touch = (run.time for run in found)
    row = next(row for row in speedups(found, "on-touch") if row["variant"] == "grit")
    assert row["speedup"] == touch.median / grit.median
    assert (row["low"], row["high"]) == (touch.low / grit.high, touch.high / grit.low)
    page = Watched(browser, path).drawn()
    assert page.get_by_role("heading", level=1).inner_text() == "stencil2d: 2 runs"
    assert page.locator("#runs").get_by_text("3 replicates").count() == 2
    assert "Times are medians of replicates" in page.inner_text("#speed")


def test_the_same_run_in_two_folders_is_no_replicate(runs):
    one = runs / "runs" / "stencil2d" / "grit"
    assert len(read([one, runs / "replicates" / "1" / "stencil2d" / "grit"])) == 1
    again = octavo.run(one / "scenario.toml", output=runs.parent / "again")
    assert len(read([one, again.folder])) == 2


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    root = tmp_path_factory.mktemp("swept")
    for placement in ("on-touch", "grit"):
        for service in SERVICES:
            overrides = {"node.driver.service.service": service, "record.interval": "0ns", "record.events": False}
            folder = root / f"{placement}-{service}"
            octavo.run(workload="fir", placement=placement, scale=SMALL, overrides=overrides, output=folder)
    return root


def test_sweeps_are_drawn_along_the_axis_that_was_swept(browser, swept, tmp_path):
    found = sweeps.along(read([swept]))
    assert (found["key"], found["unit"]) == ("node.driver.service.service", "us")
    assert [(row["series"], row["value"]) for row in found["rows"]] == [
        (placement, value) for placement in ("grit", "on-touch") for value in (1.25, 2.5, 5)
    ]
    watched = Watched(browser, report([swept], tmp_path / "sweep.html"))
    page = watched.drawn()
    assert page.get_by_role("heading", level=2).all_inner_texts()[:2] == ["Sweep", "Why"]
    chart = page.locator("#sweep .plot").first
    assert labels(page, chart) == ["1.25", "2.5", "5"]
    assert watched.complaints == []


def test_runs_of_one_colour_differ_in_their_dashes(browser, tmp_path):
    for placement in ("on-touch", "grit"):
        for service in SERVICES[:2]:
            overrides = {"node.driver.service.service": service, "record.events": False}
            folder = tmp_path / "runs" / f"{placement}-{service}"
            octavo.run(workload="fir", placement=placement, scale=SMALL, overrides=overrides, output=folder)
    page = Watched(browser, report([tmp_path / "runs"], tmp_path / "four.html")).drawn()
    lines = page.locator("#over-time .plot").first.locator(".mark-line path")
    looks = lines.evaluate_all(
        "found => found.map((one) => `${one.getAttribute('stroke')} ${one.getAttribute('stroke-dasharray')}`)"
    )
    assert len(set(looks)) == len(looks) == 4
    assert len({look.split()[0] for look in looks}) == 2


def drawn(first, page, second):
    """A run as one that a search drew at random."""
    summary = {"time_ps": 1, "manager": {"far_faults": 0, "protection_faults": 0}}
    values = {"memory.placement.name": "grit", "node.a": str(first), "memory.page_size": page, "node.b": str(second)}
    result = SimpleNamespace(summary=summary)
    return Run(first, result, summary, values, "fir", f"{first}")


def test_draws_at_random_are_points_and_keys_with_few_values_name_them():
    found = sweeps.along([drawn(1, "4KiB", 7), drawn(2, "64KiB", 9), drawn(3, "4KiB", 8)])
    assert (found["key"], found["joined"]) == ("node.a", False)
    assert [(row["series"], row["value"]) for row in found["rows"]] == [
        ("page_size=4KiB", 1),
        ("page_size=4KiB", 3),
        ("page_size=64KiB", 2),
    ]
    zipped = sweeps.along([drawn(1, "4KiB", 7), drawn(2, "4KiB", 8), drawn(3, "64KiB", 9)])
    assert ({row["series"] for row in zipped["rows"]}, zipped["joined"]) == ({"all runs"}, True)


def test_runs_without_an_axis_of_numbers_are_no_sweep(runs):
    assert sweeps.along(read([runs])) is None


def test_profiles_and_simulated_runs_line_up_at_their_first_kernels(browser, runs, tmp_path):
    import_nsys(saxpy(tmp_path / "saxpy.sqlite"), tmp_path / "profile")
    folders = [tmp_path / "profile", runs / "runs" / "stencil2d" / "grit"]
    data = gather(read(folders), "grit")
    began = [int(read([folder])[0].result.table("kernels")["began_ps"].min()) / 1e9 for folder in folders]
    assert [run["zero_ms"] for run in data["runs"]] == began
    assert data["zeros"] is True
    faults = [row for row in data["rates"] if row["run"] == 0]
    assert sum(row["faults"] * (row["to"] - row["from"]) for row in faults) == pytest.approx(3, rel=0.02)
    assert {row["cause"] for row in data["moves"] if row["run"] == 0} == {"migration", "prefetch"}
    watched = Watched(browser, report(folders, tmp_path / "both.html"))
    page = watched.drawn()
    assert page.input_value("#zero") == "kernel"
    assert ends(page)[0] == pytest.approx(-max(began), rel=1e-5)
    page.select_option("#zero", "start")
    assert ends(page)[0] == 0
    assert watched.complaints == []


STAND_IN = """
window.sent = [];
window.open = (address) => {
    window.opened = address;
    const frame = document.createElement("iframe");
    document.body.append(frame);
    const other = frame.contentWindow;
    other.postMessage = (message, origin) => {
        window.sent.push([message, origin]);
        const answer = { data: "PONG", origin: "https://ui.perfetto.dev", source: other };
        if (message === "PING") dispatchEvent(new MessageEvent("message", answer));
    };
    return other;
};
"""


def test_perfetto_gets_the_trace_and_the_same_moment(browser, path, tmp_path):
    (tmp_path / "grit.pftrace").write_bytes(b"a trace")
    page = browser.new_page()
    page.add_init_script(STAND_IN)
    page.route("http://octavo.test/**", lambda route: route.fulfill(path=path, content_type="text/html"))
    page.goto("http://octavo.test/report.html")
    page.wait_for_selector("html[data-charts=drawn]")
    page.locator("#perfetto summary").click()
    set_end(page, "from", 0.25)
    set_end(page, "to", 0.5)
    page.select_option("#perfetto-run", "1")
    page.set_input_files("#perfetto-file", tmp_path / "grit.pftrace")
    go = page.get_by_role("button", name="Show this moment in Perfetto")
    go.click()
    until(page, "window.sent.some(([message]) => message.perfetto?.timeStart)")
    assert page.evaluate("window.opened") == "https://ui.perfetto.dev/?visStart=250000&visEnd=500000"
    ping, *rest = page.evaluate("""window.sent.map(([message, origin]) => message.perfetto?.buffer
            ? [{ ...message.perfetto, buffer: new TextDecoder().decode(message.perfetto.buffer) }, origin]
            : [message.perfetto ?? message, origin])""")
    site = "https://ui.perfetto.dev"
    assert ping == ["PING", site]
    range_sent = {"timeStart": 0.00025, "timeEnd": 0.0005, "viewPercentage": 1}
    trace_sent = {"buffer": "a trace", "title": "grit", "fileName": "grit.pftrace", "keepApiOpen": True}
    assert [one for one in rest if one != ["PING", site]] == [[trace_sent, site], [range_sent, site]]
    set_end(page, "to", 0.375)
    go.click()
    until(page, "window.sent.at(-1)[0].perfetto?.timeEnd === 0.000375")
