"""What a report is made of: states of pages, tiles, pieces that fit, names of runs, and what is said of bad folders."""

from __future__ import annotations

import base64
import json
import re
import shutil
import zlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import SMALL, refused, sealed_anew

import octavo
from octavo.files import manifest
from octavo.report import report
from octavo.report.data import gather
from octavo.report.history import PLANES, REPLICATED, Footprint, history
from octavo.report.pack import pack
from octavo.report.runs import read
from octavo.report.series import binned
from octavo.report.speed import baseline, beside_published, means, speedups
from octavo.report.tiles import LAYERS, TILE_COLUMNS, TILE_ROWS, Painter, activity, levels
from octavo.runs.content import RESULT_FORMAT
from octavo.runs.events import COPIES, KINDS, code

PAGE = 4096

LAST = "<!DOCTYPE html><title>Octavo: the last one</title>"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Four runs of two kernels; fir's have recorded no events."""
    root = tmp_path_factory.mktemp("runs")
    for workload, placement, events in (
        ("stencil2d", "on-touch", True),
        ("stencil2d", "grit", True),
        ("fir", "on-touch", False),
        ("fir", "grit", False),
    ):
        octavo.run(
            workload=workload,
            placement=placement,
            scale=SMALL,
            overrides={"record.events": events, "record.interval": "20us"},
            output=root / f"{workload}-{placement}",
        )
    return root


def footprint(pages):
    allocation = {"name": "a", "address": 0, "bytes": pages * PAGE, "start": 0, "first": 0, "pages": pages}
    return Footprint(PAGE, [allocation])


def frame(*events):
    """An `events` table of (microsecond, kind, page, pages, from, to)."""
    rows = [
        {"time_ps": time * 10**6, "kind": kind, "address": page * PAGE, "pages": pages, "from": source, "to": target}
        for time, kind, page, pages, source, target in events
    ]
    numbers = dict.fromkeys(("time_ps", "address", "pages", "from", "to"), pl.UInt64)
    return pl.DataFrame(rows, schema={**numbers, "kind": pl.Enum(KINDS)})


def random_events(count, pages, seed=1):
    """Events that contradict no rule of the table, in order of time."""
    choose = np.random.default_rng(seed)
    times = np.sort(choose.integers(0, 1000, count))
    kinds = choose.choice([kind for kind in KINDS if kind != "eviction"], count)
    return frame(
        *(
            (int(time), str(kind), int(choose.integers(pages - 3)), int(choose.integers(1, 4)), *map(int, ends))
            for time, kind, ends in zip(times, kinds, choose.integers(0, 4, (count, 2)), strict=True)
        )
    )


def test_every_event_leaves_its_page_in_the_state_it_says():
    past = history(
        frame(
            (1, "scheme_on_touch", 0, 3, 0, 0),
            (2, "read_fault", 1, 1, 1, 0),
            (3, "migration", 1, 1, 0, 1),
            (4, "read_fault", 1, 1, 2, 0),
            (5, "duplication", 1, 1, 1, 2),
            (6, "scheme_duplication", 1, 1, 0, 0),
            (7, "write_fault", 1, 1, 2, 0),
            (8, "discard", 1, 1, 1, 1),
        ),
        footprint(3),
        10 * 10**6,
        processors=3,
    )
    assert past.counts.to_list() == [1, 8, 1]
    middle = slice(int(past.starts[1]), int(past.ends[1]))
    assert past.events["holder"][middle].to_list() == [0, 0, 1, 1, REPLICATED, REPLICATED, REPLICATED, 2]
    assert past.events["sharing"][middle].to_list() == [0, 1, 1, 2, 2, 2, 2, 2]
    assert past.events["access"][middle].to_list() == [0, 1, 1, 1, 1, 1, 2, 2]
    assert past.events["scheme"][middle].to_list() == [1, 1, 1, 1, 1, 3, 3, 3]
    assert past.events["time"][middle].to_list() == [1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000]


def test_pages_are_numbered_along_the_allocations(tmp_path):
    rows = pl.DataFrame({"allocation": ["b", "a"], "address": [10 * PAGE, 0], "bytes": [PAGE + 1, 3 * PAGE]})
    folder = tmp_path / "r"
    folder.mkdir()
    rows.write_parquet(folder / "allocations.parquet")
    (folder / "octavo-manifest.json").write_text(manifest.of_files(folder, "run").text())
    pages = Footprint.of(octavo.RunResult(folder), "4KiB")
    assert pages.pages == 5
    assert [(one["name"], one["first"], one["pages"]) for one in pages.allocations] == [("a", 0, 3), ("b", 3, 2)]
    assert pages.number(pl.Series([0, 2 * PAGE + 5, 3 * PAGE, 10 * PAGE, 12 * PAGE])).to_list() == [0, 2, None, 3, None]


def test_tiles_hold_what_most_pages_of_a_row_are_in():
    pages, columns = 600, TILE_COLUMNS
    past = history(random_events(3000, pages), footprint(pages), 1000 * 10**6, processors=4)
    level = levels(pages)[0]
    assert (level["step"], level["rows"], level["columns"]) == (4, 150, columns)
    found = {(row, column): cells for row, column, cells in Painter(past).tiles(level)}
    assert len(found) == 2
    first = np.frombuffer(found[0, 0], np.uint8).reshape(len(LAYERS), TILE_ROWS, columns)
    for layer, name in enumerate(PLANES):
        for row in (0, 7, 100):
            for column in (0, 100, 511):
                expected = most([state(past, name, page, column, columns) for page in range(row * 4, row * 4 + 4)])
                assert first[layer, row, column] == expected, (name, row, column)
    copies = past.events["kind"].is_in([code(name) for name in COPIES]).sum()
    layers = np.concatenate(
        [np.frombuffer(cells, np.uint8).reshape(len(LAYERS), -1, columns) for cells in found.values()], 1
    )
    assert np.isclose((2.0 ** ((layers[-1][layers[-1] > 0] - 1) / 15)).sum(), copies, rtol=0.05)


def state(past, plane, page, column, columns):
    """State of a page at the end of a column, found the slow way."""
    found = 0
    for event in range(past.starts[page], past.ends[page]):
        if int(past.events["time"][event]) * columns // (past.span + 1) <= column:
            found = int(past.events[plane][event])
    return found


def most(states):
    return min(states, key=lambda code: (-states.count(code), code))


def test_the_last_level_has_one_page_a_row_if_it_can():
    assert [level["step"] for level in levels(200)] == [1]
    assert [level["step"] for level in levels(4096)] == [16, 4, 1]
    assert [level["step"] for level in levels(1 << 20)] == [4096, 1024, 256]


def test_activity_tells_one_from_none_and_stops_at_the_top():
    assert activity(pl.Series([0, 1, 2, 1 << 40])).to_list() == [0, 1, 16, 255]


def unpack(packed, place):
    return zlib.decompress(base64.b64decode(packed.text[place[0] : place[0] + place[1]]))


def events_of(packed, page):
    """Kept and all events of a page, and the times and kinds of those kept, as a browser reads them."""
    about = packed.about
    first = page // about["chunk_pages"] * about["chunk_pages"]
    pages = min(about["chunk_pages"], about["pages"] - first)
    raw = np.frombuffer(unpack(packed, about["chunks"][first // about["chunk_pages"]]), np.uint8)

    def numbers(at, count):
        return raw[at : at + 4 * count].reshape(4, count).T.copy().view("<u4").ravel().astype(np.int64)

    total, kept = numbers(0, pages), numbers(4 * pages, pages)
    events = int(kept.sum())
    at, start = 8 * pages, int(kept[: page - first].sum())
    chosen = slice(start, start + int(kept[page - first]))
    times = np.cumsum(numbers(at, events)[chosen])
    kinds = raw[at + 4 * events : at + 5 * events][chosen]
    return int(kept[page - first]), int(total[page - first]), times.tolist(), kinds.tolist()


def test_pieces_hold_every_event_when_there_is_room():
    pages = 1000
    past = history(random_events(5000, pages), footprint(pages), 1000 * 10**6, processors=4)
    packed = pack(past, footprint(pages), 1 << 22)
    assert packed.about["kept_of_a_page"] is None
    for page in (0, 511, 512, 999):
        chosen = slice(int(past.starts[page]), int(past.ends[page]))
        kept, total, times, kinds = events_of(packed, page)
        assert kept == total == past.counts[page]
        assert (times, kinds) == (past.events["time"][chosen].to_list(), past.events["kind"][chosen].to_list())
    level = packed.about["levels"][0]
    rows = min(TILE_ROWS, level["rows"])
    assert len(unpack(packed, level["tiles"][0][2:])) == len(LAYERS) * rows * TILE_COLUMNS


@pytest.mark.parametrize("guess", [1, 4])
def test_histories_lose_their_middles_when_there_is_none(guess, monkeypatch):
    monkeypatch.setattr("octavo.report.pack._GUESS", guess)
    pages = 300
    past = history(random_events(60_000, pages), footprint(pages), 1000 * 10**6, processors=4)
    room = 400_000
    packed = pack(past, footprint(pages), room)
    about = packed.about
    cap = about["kept_of_a_page"]
    assert 2 < cap < past.counts.max()
    assert len(packed.text) <= room
    assert about["events"] == past.counts.sum()
    assert about["events_kept"] == past.counts.clip(upper_bound=cap).sum()
    page = past.counts.arg_max()
    kept, total, times, _ = events_of(packed, page)
    own = past.events["time"][past.starts[page] : past.ends[page]].to_list()
    assert (kept, total) == (cap, len(own))
    assert times == own[: cap - cap // 2] + own[len(own) - cap // 2 :]


def test_bins_lose_nothing():
    table = pl.DataFrame({"time_ps": range(10, 1010, 10), "faults": range(100)})
    found = binned(table, [], 7)
    assert found.height <= 7
    assert found["faults"].sum() == table["faults"].sum()
    assert found["from_ps"].to_list()[1:] == found["time_ps"].to_list()[:-1]
    assert found["time_ps"].max() == 1000


def test_memory_of_all_processors_is_that_of_one_moment():
    """A page that moves within a bin is not counted twice."""
    held = [(10, "host", 4), (10, "gpu0", 0), (20, "host", 0), (20, "gpu0", 4)]
    table = pl.DataFrame(held, schema=["time_ps", "processor", "bytes"], orient="row")
    assert binned(table, ["processor"], 1)["bytes"].sum() == 4


def test_runs_are_named_after_what_differs(runs, tmp_path):
    found = read([runs / "stencil2d-grit", runs])
    assert [run.result.folder.name for run in found] == [
        "stencil2d-grit",
        "fir-grit",
        "fir-on-touch",
        "stencil2d-on-touch",
    ]
    assert [run.label for run in found][:2] == ["stencil2d · grit", "fir · grit"]
    link = octavo.run(
        runs / "stencil2d-grit" / "scenario.toml",
        overrides={"node.gpu_link.bandwidth": "600GB/s"},
        output=tmp_path / "fast",
    )
    assert [run.variant for run in read([runs / "stencil2d-grit", link.folder])] == [
        "grit, gpu_link.bandwidth=300GB/s",
        "grit, gpu_link.bandwidth=600GB/s",
    ]
    shutil.copytree(runs / "stencil2d-grit", tmp_path / "again")
    assert [run.variant for run in read([runs / "stencil2d-grit", tmp_path / "again"])] == [
        "grit (stencil2d-grit)",
        "grit (again)",
    ]


def test_the_same_runs_in_folders_of_the_same_name_have_names_of_their_own(runs, tmp_path):
    """Runs of the same machine get no more than tells them apart, and only where names are the same."""
    for place in ("a", "b", "a/deep"):
        shutil.copytree(runs / "stencil2d-grit", tmp_path / place / "r")
    shutil.copytree(runs / "stencil2d-on-touch", tmp_path / "c" / "r")
    assert [run.variant for run in read([tmp_path])] == ["grit (deep/r)", "grit (a/r)", "grit (b/r)", "on-touch"]


def test_options_of_another_strategy_are_no_part_of_a_name(tmp_path):
    """`access-counter` and `grit` both have `host_pages`, with other defaults."""
    for placement in ("access-counter", "grit"):
        octavo.run(workload="fir", placement=placement, scale=SMALL, output=tmp_path / placement)
    assert [run.variant for run in read([tmp_path])] == ["access-counter", "grit"]


def test_speedups_are_over_on_touch_unless_another_variant_is_named(runs):
    found = read([runs])
    assert baseline(found, None) == "on-touch"
    rows = {(row["group"], row["variant"]): row["speedup"] for row in speedups(found, "grit")}
    assert rows["stencil2d", "grit"] == 1
    seconds = {run.label: run.summary["time_ps"] for run in found}
    assert rows["stencil2d", "on-touch"] == pytest.approx(seconds["stencil2d · grit"] / seconds["stencil2d · on-touch"])
    with refused("unknown-variant", octavo.ScenarioError):
        baseline(found, "fastest")


def test_published_averages_stand_beside_what_was_found(runs):
    found = read([runs])
    rows = speedups(found, "on-touch")
    beside = beside_published(found, rows)
    assert beside["kernels"] == ["fir", "st"]
    assert [(row["of"], row["over"], row["published"]) for row in beside["averages"]] == [("grit", "on-touch", 1.6)]
    assert beside["averages"][0]["found"] == pytest.approx(means(rows)["grit"])


def test_data_adds_up(runs):
    data = gather(read([runs]), "on-touch")
    for run in range(4):
        assert sum(row["share"] for row in data["causes"] if row["run"] == run) == pytest.approx(1)
    assert {row["key"] for row in data["differing"]} >= {"workload.name", "memory.placement.name", "record.events"}
    assert [run["events"] for run in data["runs"]] == [False, False, True, True]
    held = [row["mebibytes"] for row in data["memory"] if row["run"] == 2]
    assert max(held) > 0


def test_a_report_is_whole_and_the_same_every_time(runs, tmp_path):
    first = report([runs], tmp_path / "a.html").read_bytes()
    assert report([runs], tmp_path / "b.html").read_bytes() == first
    assert not re.search(rb"(src|href)=.?https?:", first.split(b'<script type="application/json"')[0])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "b.html"]


def test_names_cannot_break_out_of_the_page(runs, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(runs / "stencil2d-grit", folder)
    table = pl.read_parquet(folder / "allocations.parquet")
    name = "</script><script>alert(1)</script>"
    table.with_columns(allocation=pl.lit(name)).write_parquet(folder / "allocations.parquet")
    page = report([sealed_anew(folder)], tmp_path / "r.html").read_text(encoding="utf-8")
    assert name not in page
    assert json.dumps(name)[1:-1].replace("<", "\\u003c") in page


def damaged(runs, tmp_path, name, damage):
    folder = tmp_path / "damaged"
    shutil.copytree(runs / "stencil2d-grit", folder)
    path = folder / name
    path.write_bytes(damage(path.read_bytes()))
    return sealed_anew(folder)


@pytest.mark.parametrize(
    ("name", "damage", "code"),
    [
        ("summary.json", lambda text: text[:100], "damaged"),
        ("summary.json", lambda _: b"[]", "damaged"),
        ("summary.json", lambda _: b"\xff", "damaged"),
        (
            "summary.json",
            lambda text: text.replace(f'"format": {RESULT_FORMAT}'.encode(), b'"format": 99'),
            "other-format",
        ),
        (
            "summary.json",
            lambda text: re.sub(rb'"format": \d+,', b"", text),
            "other-format",
        ),
        ("scenario.toml", lambda text: text[: len(text) // 2], "syntax"),
        ("events.parquet", lambda text: text[: len(text) // 2], "damaged"),
        ("intervals.parquet", lambda _: b"", "damaged"),
        ("allocations.parquet", lambda _: b"PAR1", "damaged"),
    ],
)
def test_damaged_results_are_named_and_nothing_is_written(runs, tmp_path, name, damage, code):
    folder = damaged(runs, tmp_path, name, damage)
    (tmp_path / "report.html").write_text(LAST)
    with refused(code, file=name):
        report([folder], tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == LAST
    assert sorted(path.name for path in tmp_path.iterdir()) == ["damaged", "report.html"]


@pytest.mark.parametrize("name", ["summary.json", "scenario.toml"])
@pytest.mark.parametrize("beside", ["whole", "damaged"])
def test_a_run_that_lacks_a_file_is_not_left_out(runs, tmp_path, name, beside):
    """Reports dropped such a run, and showed only the others of the experiment."""
    for run in ("stencil2d-grit", "stencil2d-on-touch"):
        shutil.copytree(runs / run, tmp_path / "runs" / run)
    folder = tmp_path / "runs" / "stencil2d-grit"
    (folder / name).unlink()
    if beside == "damaged":
        (folder / "octavo-manifest.json").write_text("{")
    code, file = ("missing", name) if beside == "whole" else ("damaged", "octavo-manifest.json")
    with refused(code, octavo.DamagedError, file=file):
        report([tmp_path / "runs"], tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_tables_that_lack_something_are_named(runs, tmp_path):
    folder = tmp_path / "lacking"
    shutil.copytree(runs / "stencil2d-grit", folder)
    events = pl.read_parquet(folder / "events.parquet")
    events.drop("pages").write_parquet(folder / "events.parquet")
    sealed_anew(folder)
    with refused("unexpected-value", octavo.OutputError, key="events", expected="pages"):
        report([folder], tmp_path / "report.html")
    events.with_columns(kind=pl.lit("teleport")).write_parquet(folder / "events.parquet")
    sealed_anew(folder)
    with refused("unexpected-value", octavo.OutputError, key="events", found="teleport"):
        report([folder], tmp_path / "report.html")


def test_folders_without_results_are_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    half = tmp_path / ".st.x"
    half.mkdir()
    for name in ("summary.json", "scenario.toml"):
        (half / name).write_text("{}")
    with refused("no-result", octavo.OutputError):
        report([tmp_path], tmp_path / "report.html")
    with refused("nothing-there", octavo.OutputError):
        report([tmp_path / "typo"], tmp_path / "report.html")
    with refused("not-a-folder", octavo.OutputError):
        report([tmp_path / "notes.txt"], tmp_path / "report.html")
    with refused("no-runs", octavo.OutputError):
        report([], tmp_path / "report.html")


def test_output_that_cannot_be_written_is_refused_before_anything_is_read(tmp_path):
    with refused("is-a-folder", octavo.OutputError):
        report([tmp_path / "typo"], tmp_path)
    (tmp_path / "file").write_text("mine")
    with refused("not-a-folder", octavo.OutputError, file="file"):
        report([tmp_path / "typo"], tmp_path / "file" / "report.html")


def test_a_disk_that_fills_up_leaves_the_last_page(runs, tmp_path, monkeypatch):
    (tmp_path / "report.html").write_text(LAST)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with refused("unwritable", octavo.OutputError, file="report.html"):
        report([runs / "stencil2d-grit"], tmp_path / "report.html")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"report.html": LAST}


def test_the_command_says_where_the_page_is_and_what_is_wrong(runs, cli, tmp_path):
    done = cli("report", str(runs / "stencil2d-grit"), "-o", "page.html", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"report": "page.html", "bytes": (tmp_path / "page.html").stat().st_size}
    failed = cli("report", "nowhere")
    assert failed.returncode == 2
    assert "nowhere: expected the folder of a result" in failed.stderr
    assert "Traceback" not in failed.stderr


def test_results_of_another_format_are_not_taken_for_finished_ones(tmp_path):
    octavo.run(workload="fir", scale=SMALL, output=tmp_path / "r")
    path = tmp_path / "r" / "summary.json"
    path.write_text(path.read_text().replace(f'"format": {RESULT_FORMAT}', '"format": 1'))
    sealed_anew(tmp_path / "r")
    with refused("other-format", octavo.OutputError, file="r"):
        octavo.run(workload="fir", scale=SMALL, output=tmp_path / "r")
    with refused("other-format", octavo.OutputError, file="summary.json", found=1, expected=RESULT_FORMAT):
        octavo.RunResult.load(tmp_path / "r")


def test_phases_of_whole_programs_add_up_and_stand_in_their_order(tmp_path):
    octavo.run(workload="fir", kind="explicit", scale=SMALL, output=tmp_path / "explicit")
    octavo.run(workload="fir", scale=SMALL, output=tmp_path / "launches")
    data = gather(read([tmp_path]), "on-touch")
    whole = next(run for run in read([tmp_path]) if "phases" in run.summary)
    assert {row["run"] for row in data["phases"] + data["spans"]} == {whole.number}
    times = {row["phase"]: row["time_ms"] for row in data["phases"]}
    assert times["kernels"] == whole.summary["phases"]["kernels_ps"] / 1e9
    assert sum(row["share"] for row in data["phases"]) == pytest.approx(1)
    assert {row["phase"] for row in data["spans"]} >= {"allocation", "copy in", "kernel", "copy out", "deallocation"}
    assert all(0 <= row["from"] <= row["to"] <= whole.summary["time_ps"] / 1e9 for row in data["spans"])
    assert report([tmp_path], tmp_path / "page.html").stat().st_size > 0


def test_changes_that_were_tried_are_no_runs_of_a_folder(runs, tmp_path):
    shutil.copytree(runs / "stencil2d-grit", tmp_path / "one")
    shutil.copytree(runs / "stencil2d-on-touch", tmp_path / "one-what-if" / "on-touch")
    assert [run.placement for run in read([tmp_path])] == ["grit"]
    assert [run.placement for run in read([tmp_path / "one-what-if"])] == ["on-touch"]
