"""`--force` takes away what Octavo wrote and nothing else; links lead only to places that the user named."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from conftest import SMALL, contents, noted, refused
from nsys_exports import saxpy

import octavo
from octavo.errors import DamagedError
from octavo.files import atomic, blame, folder_locks, manifest, ours, swap
from octavo.files.folder_locks import Shared
from octavo.files.manifest import MANIFEST_FILE, Manifest
from octavo.files.notes import OctavoNote
from octavo.measurements.imports import import_nsys
from octavo.runs.content import FILES
from octavo.trace import folder as trace_folder

RUN = {"workload": "fir", "scale": SMALL}
COMPARE = {"workloads": ["fir"], "placements": ["on-touch", "grit"], "scale": SMALL}
SCENARIO = {
    "workload": {"name": "fir", "scale": SMALL},
    "node": {"preset": "grit-2gpu"},
    "memory": {"placement": "on-touch"},
}
TRACE = (
    {"kind": ["load", "end"], "bytes": [4, 0], "lanes": [64, 0], "lines": [[0, 1, 2, 3], []]},
    [{"name": "a", "base": 0, "bytes": 256}],
    [{"kernel": "copy", "grid": (64, 1, 1), "group": (64, 1, 1)}],
)


def put_own_files(folder):
    """Files, a folder and links of a user's own; what they hold afterwards is compared with what this returns."""
    (folder / "notes.txt").write_text("mine")
    (folder / "figures").mkdir()
    (folder / "figures" / "a.png").write_bytes(b"mine, too")
    (folder / "summary.json.bak").symlink_to("summary.json")
    return {name: data for name, data in contents(folder).items() if name.startswith(("notes", "figures"))}


def test_a_forced_run_keeps_what_is_not_octavos_and_names_it(tmp_path):
    octavo.run(**RUN, output=tmp_path / "r")
    own = put_own_files(tmp_path / "r")
    with noted("figures/", "notes.txt", "summary.json.bak"):
        octavo.run(**RUN, seed=7, output=tmp_path / "r", force=True)
    assert own.items() <= contents(tmp_path / "r").items()
    assert (tmp_path / "r" / "summary.json.bak").is_symlink()
    assert "seed = 7" in (tmp_path / "r" / "scenario.toml").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["r"]
    octavo.RunResult.load(tmp_path / "r").check()


WITHOUT = {
    "missing": (lambda path: path.unlink(), "r"),
    "damaged": (
        lambda path: path.write_text(path.read_text().replace("events.parquet", "events_parquet")[:-9]),
        "events.parquet",
    ),
}


@pytest.mark.parametrize("state", WITHOUT)
def test_a_file_that_no_manifest_vouches_for_is_not_replaced(tmp_path, state):
    damage, named = WITHOUT[state]
    octavo.run(**RUN, output=tmp_path / "r")
    (tmp_path / "r" / "events.parquet").write_text("mine")
    damage(tmp_path / "r" / MANIFEST_FILE)
    before = contents(tmp_path / "r")
    for write in (
        lambda: octavo.run(**RUN, seed=7, output=tmp_path / "r", force=True),
        lambda: import_nsys(saxpy(tmp_path / "saxpy.sqlite"), tmp_path / "r", force=True),
    ):
        with refused("not-ours", octavo.OutputError, file="r", names=[named]):
            write()
    assert contents(tmp_path / "r") == before
    (tmp_path / "r" / "events.parquet").unlink()
    if state == "damaged":
        octavo.run(**RUN, seed=7, output=tmp_path / "r", force=True)
        octavo.RunResult.load(tmp_path / "r").check()


@pytest.mark.parametrize("summary", ["mine", "[1]", '{"time_ps": 1}'])
def test_names_of_a_result_do_not_make_one(tmp_path, summary):
    """Files of somebody else by the names of a result's, without a manifest."""
    own = tmp_path / "own"
    own.mkdir()
    (own / "summary.json").write_text(summary)
    (own / "scenario.toml").write_text("mine")
    before = contents(own)
    with refused("not-ours", octavo.OutputError, file="own"):
        octavo.run(**RUN, output=own, force=True)
    for force in (False, True):
        with refused("not-ours", octavo.OutputError, file="own"):
            import_nsys(saxpy(tmp_path / "saxpy.sqlite"), own, force=force)
        (tmp_path / "saxpy.sqlite").unlink()
    assert contents(own) == before


def manifest_of(folder):
    return json.loads((folder / "octavo-manifest.json").read_text())["files"]


def test_a_file_of_somebody_else_is_never_overwritten(tmp_path):
    octavo.run(**RUN, overrides={"record.events": False}, output=tmp_path / "r")
    (tmp_path / "r" / "events.parquet").write_text("mine")
    before = contents(tmp_path / "r")
    with refused("not-ours", octavo.OutputError, file="r", names=["events.parquet"]):
        octavo.run(**RUN, output=tmp_path / "r", force=True)
    assert contents(tmp_path / "r") == before
    assert [path.name for path in tmp_path.iterdir()] == ["r"]


def test_a_comparison_keeps_what_is_not_octavos(tmp_path):
    octavo.compare(**COMPARE, output=tmp_path / "c")
    own = put_own_files(tmp_path / "c")
    run_own = put_own_files(tmp_path / "c" / "runs" / "fir" / "grit")
    with pytest.warns(OctavoNote):
        octavo.compare(**COMPARE, seed=7, output=tmp_path / "c", force=True)
    assert own.items() <= contents(tmp_path / "c").items()
    assert run_own.items() <= contents(tmp_path / "c" / "runs" / "fir" / "grit").items()


@pytest.mark.parametrize("force", [False, True])
def test_a_comparison_overwrites_no_file_of_somebody_else(tmp_path, force):
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "points.parquet").write_text("mine")
    with refused("not-ours", octavo.OutputError, file="c", names=["points.parquet"]):
        octavo.compare(**COMPARE, output=tmp_path / "c", force=force)
    assert (tmp_path / "c" / "points.parquet").read_text() == "mine"


def test_a_forced_sweep_keeps_what_is_not_octavos(tmp_path):
    grid = {"scenario": SCENARIO, "grid": {"node.gpus": [2, 3]}}
    octavo.sweep(grid, output=tmp_path / "s")
    places = (
        tmp_path / "s",
        tmp_path / "s" / "runs",
        tmp_path / "s" / "points",
        next((tmp_path / "s" / "runs").iterdir()),
    )
    own = {place: put_own_files(place) for place in places}
    grid["grid"] = {"node.gpus": [4]}
    with noted("figures/", "notes.txt"):
        octavo.sweep(grid, output=tmp_path / "s", force=True)
    for place, files in own.items():
        assert files.items() <= contents(place).items()
    assert len(list((tmp_path / "s" / "points").glob("*.parquet"))) == 1


def test_a_forced_sweep_with_a_linked_point_removes_nothing(tmp_path):
    grid = {"scenario": SCENARIO, "grid": {"node.gpus": [2, 3]}}
    octavo.sweep(grid, output=tmp_path / "s")
    last = sorted((tmp_path / "s" / "runs").iterdir())[-1]
    last.rename(tmp_path / "elsewhere")
    last.symlink_to(tmp_path / "elsewhere")
    before = contents(tmp_path)
    with refused("link", octavo.OutputError, file="00001-gpus-3"):
        octavo.sweep(grid, output=tmp_path / "s", force=True)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("kind", ["a user's", "truncated"])
def test_a_row_that_nothing_says_octavo_wrote_is_named_and_stays(tmp_path, kind, force):
    grid = {"scenario": SCENARIO, "grid": {"node.gpus": [2, 3]}}
    octavo.sweep(grid, output=tmp_path / "s")
    row = tmp_path / "s" / "points" / "00001.parquet"
    row.write_bytes(b"mine" if kind == "a user's" else row.read_bytes()[:500])
    before = contents(tmp_path)
    for changed in ({}, {"seed": 7}) if force else ({},):
        with refused("not-ours", octavo.OutputError, file="s", found=[str(row)]):
            octavo.sweep(grid | {"scenario": SCENARIO | changed}, output=tmp_path / "s", force=force)
        assert contents(tmp_path) == before
    row.unlink()
    assert octavo.sweep(grid, output=tmp_path / "s", force=force)["status"].to_list() == ["ok", "ok"]
    assert octavo.load_sweep(tmp_path / "s").height == 2


def test_files_that_a_comparison_never_writes_are_no_obstacle(tmp_path):
    """Those that it writes are refused before anything runs."""
    (tmp_path / "c").mkdir()
    own = ("jobs.parquet", "jobs.png", "phases.png", "validation.csv", "bloat.png", "medians.parquet")
    for name in own:
        (tmp_path / "c" / name).write_text("mine")
    octavo.compare(**COMPARE, output=tmp_path / "c")
    assert {(tmp_path / "c" / name).read_text() for name in own} == {"mine"}
    for name in ("report.json", "points.parquet", "speedup.svg", "breakdown.pdf"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / name).write_text("mine")
        with refused("not-ours", octavo.OutputError, file=folder, names=[name]):
            octavo.compare(**COMPARE, output=folder)
        assert not (folder / "runs").exists()
    octavo.compare(**COMPARE, executor="instant", output=tmp_path / "speedup.svg")


def test_a_point_of_a_forced_sweep_runs_beside_files_of_a_user(tmp_path):
    """Points of the same names as before: their folders hold what Octavo did not write. Without `--force`, too."""
    grid = {"scenario": SCENARIO, "grid": {"node.gpus": [2, 3]}}
    octavo.sweep(grid, output=tmp_path / "s")
    folders = sorted((tmp_path / "s" / "runs").iterdir())
    own = {folder: put_own_files(folder) for folder in folders}
    grid["scenario"] = {**SCENARIO, "seed": 7}
    with noted("00000-gpus-2/", "00001-gpus-3/"):
        table = octavo.sweep(grid, output=tmp_path / "s", force=True)
    assert table["error"].to_list() == [None, None]
    for folder, files in own.items():
        assert files.items() <= contents(folder).items()
        octavo.RunResult.load(folder).check()
        assert "seed = 7" in (folder / "scenario.toml").read_text()
    ours.empty(folders[0], FILES)
    assert sorted(path.name for path in folders[0].iterdir() if path.name not in own[folders[0]]) == [
        "figures",
        MANIFEST_FILE,
        "summary.json.bak",
    ]
    octavo.sweep(grid, output=tmp_path / "s")
    octavo.RunResult.load(folders[0]).check()
    assert own[folders[0]].items() <= contents(folders[0]).items()


def test_a_replaced_trace_keeps_what_is_not_octavos(tmp_path):
    octavo.trace.write(tmp_path / "a.trace", *TRACE)
    own = put_own_files(tmp_path / "a.trace")
    with noted("notes.txt"):
        octavo.trace.write(tmp_path / "a.trace", *TRACE, command="again", replace=True)
    assert own.items() <= contents(tmp_path / "a.trace").items()
    assert octavo.trace.open(tmp_path / "a.trace").validate() == 2


@pytest.mark.parametrize("manifest_text", [None, "{", Manifest("run", {}).text()])
def test_names_of_a_trace_do_not_make_one(tmp_path, manifest_text):
    own = tmp_path / "own"
    own.mkdir()
    for name in ("instructions.parquet", "launches.parquet", "notes"):
        (own / name).write_text("mine")
    if manifest_text is not None:
        (own / MANIFEST_FILE).write_text(manifest_text)
    before = contents(own)
    with refused("not-ours", octavo.TraceError, file="own"):
        octavo.trace.write(own, *TRACE, replace=True)
    assert contents(own) == before


def test_a_replaced_trace_without_a_manifest_keeps_what_it_does_not_read(tmp_path):
    """A trace of launches alone has no `actions.parquet`."""
    octavo.trace.write(tmp_path / "a.trace", *TRACE)
    (tmp_path / "a.trace" / MANIFEST_FILE).unlink()
    (tmp_path / "a.trace" / "actions.parquet").write_text("mine")
    with noted("actions.parquet"):
        octavo.trace.write(tmp_path / "a.trace", *TRACE, command="again", replace=True)
    assert (tmp_path / "a.trace" / "actions.parquet").read_text() == "mine"


def test_links_inside_are_not_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "runs").symlink_to(tmp_path / "elsewhere")
    with refused("link", octavo.OutputError, file="runs"):
        octavo.compare(**COMPARE, output=tmp_path / "c")
    grid = {"scenario": SCENARIO, "grid": {"node.gpus": [2]}}
    octavo.sweep(grid, output=tmp_path / "s")
    for file in (points := tmp_path / "s" / "points").iterdir():
        file.rename(tmp_path / "elsewhere" / file.name)
    points.rmdir()
    points.symlink_to(tmp_path / "elsewhere")
    before = contents(tmp_path / "elsewhere")
    for force in (False, True):
        with refused("link", octavo.OutputError, file="points"):
            octavo.sweep(grid, output=tmp_path / "s", force=force)
    assert contents(tmp_path / "elsewhere") == before


@pytest.mark.parametrize("name", [MANIFEST_FILE, "points.parquet"])
def test_links_in_place_of_files_are_not_followed_and_stay(tmp_path, name):
    grid = {"scenario": SCENARIO, "grid": {"node.gpus": [2]}}
    writes = {"s": lambda **how: octavo.sweep(grid, **how), "c": lambda **how: octavo.compare(**COMPARE, **how)}
    for folder, write in writes.items():
        write(output=tmp_path / folder)
        own = (tmp_path / folder / name).rename(tmp_path / f"own {folder}")
        before = own.read_bytes()
        (tmp_path / folder / name).symlink_to(own)
        with refused("link", octavo.OutputError, file=name):
            write(output=tmp_path / folder, force=True)
        assert (tmp_path / folder / name).is_symlink()
        assert own.read_bytes() == before


def test_a_trace_is_not_sealed_through_a_link(tmp_path):
    octavo.trace.write(tmp_path / "a.trace", *TRACE)
    own = (tmp_path / "a.trace" / MANIFEST_FILE).rename(tmp_path / "own.json")
    (tmp_path / "a.trace" / MANIFEST_FILE).symlink_to(own)
    own.write_text("mine")
    with refused("link", octavo.TraceError, file="octavo-manifest.json"):
        trace_folder.write_manifest(tmp_path / "a.trace")
    assert own.read_text() == "mine"


def test_a_link_that_is_named_is_followed_and_stays(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "r").symlink_to("disk")
    for seed in (1, 2):
        octavo.run(**RUN, seed=seed, output=tmp_path / "r", force=True)
        assert (tmp_path / "r").is_symlink()
        assert octavo.RunResult.load(tmp_path / "disk").scenario.values["seed"] == seed
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disk", "r"]


def test_a_link_that_leads_nowhere_is_an_error(tmp_path):
    (tmp_path / "r").symlink_to("nothing")
    for write in (
        lambda: octavo.run(**RUN, output=tmp_path / "r"),
        lambda: octavo.compare(**COMPARE, output=tmp_path / "r"),
        lambda: octavo.run(**RUN, output=tmp_path / "other", perfetto=tmp_path / "r"),
    ):
        with refused("link", octavo.OutputError, file="r"):
            write()
    assert (tmp_path / "r").is_symlink()


def test_a_device_is_never_replaced(tmp_path):
    os.mkfifo(tmp_path / "device")  # Like /dev/null no regular file; losing it does no harm.
    for write in (
        lambda: octavo.run(**RUN, output=tmp_path / "device"),
        lambda: octavo.run(**RUN, output=tmp_path / "other", perfetto=tmp_path / "device"),
    ):
        with refused("unwritable", octavo.OutputError, file="device"):
            write()
    assert (tmp_path / "device").is_fifo()


@pytest.mark.parametrize("exchange", [True, False])
def test_a_folder_is_replaced_whether_or_not_the_system_can_exchange_names(monkeypatch, tmp_path, exchange):
    if not exchange:
        monkeypatch.setattr(swap, "_exchanged", lambda *_: False)
    for text in ("old", "new"):
        with swap.locked(tmp_path / "f", FILES) as target, swap.replaced(target, "run", FILES) as folder:
            (folder / "summary.json").write_text(text)
    assert (tmp_path / "f" / "summary.json").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["f"]
    assert not ours.others(tmp_path / "f", FILES)


@pytest.mark.parametrize("force", [False, True])
def test_a_comparison_into_the_folder_of_a_run_is_refused(force, tmp_path):
    octavo.run(**RUN, output=tmp_path / "r")
    before = contents(tmp_path / "r")
    with refused("other-result", octavo.OutputError, file="r", found="run", expected="experiment"):
        octavo.compare(**COMPARE, output=tmp_path / "r", force=force)
    assert contents(tmp_path / "r") == before


@pytest.mark.parametrize("name", ["../victim.txt", "/victim.txt", "a/b"])
def test_a_manifest_that_names_files_elsewhere_is_damaged(name, tmp_path):
    (tmp_path / "victim.txt").write_text("mine")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / MANIFEST_FILE).write_text(Manifest("run", {name: None}).text())
    with refused("damaged", DamagedError, file="octavo-manifest.json"):
        manifest.read(tmp_path / "out")
    assert ours.names(tmp_path / "out", ()) == {MANIFEST_FILE}


EXPERIMENT = Shared("experiment", "this one", known=())


def filled(root):
    """A folder of an experiment with a picture that only another version knows, and a file that somebody replaced."""
    with folder_locks.opened(root, EXPERIMENT, force=False):
        folder_locks.write_bytes(root / "later.png", b"by Octavo")
        folder_locks.write_bytes(root / "grün.png", b"by Octavo, too")
        folder_locks.write_bytes(root / "table.parquet", b"once Octavo's")
    (root / "table.parquet").write_bytes(b"mine")


@pytest.mark.parametrize("damage", [lambda text: text[:-60], lambda text: text.replace("this one", "that one")])
def test_force_mends_a_folder_whose_manifest_is_damaged(tmp_path, damage):
    filled(tmp_path / "e")
    path = tmp_path / "e" / MANIFEST_FILE
    path.write_text(damage(path.read_text()))
    with (
        refused("damaged", DamagedError, file="octavo-manifest.json"),
        folder_locks.opened(tmp_path / "e", EXPERIMENT, force=False),
    ):
        pass
    with folder_locks.opened(tmp_path / "e", EXPERIMENT, force=True):
        for name in ("later.png", "grün.png"):
            assert not (tmp_path / "e" / name).exists()
            folder_locks.write_bytes(tmp_path / "e" / name, b"made again")
        with refused("exists", octavo.OutputError, file="table.parquet"):
            folder_locks.write_bytes(tmp_path / "e" / "table.parquet", b"made again")
    assert (tmp_path / "e" / "table.parquet").read_bytes() == b"mine"
    assert set(manifest.read(tmp_path / "e").files) == {"later.png", "grün.png"}


def test_force_mends_a_comparison_of_which_manifest_and_report_are_damaged(tmp_path):
    """Files that nothing says anything about are named, and go on only once they are out of the way."""
    octavo.compare(**COMPARE, output=tmp_path / "c")
    expected = contents(tmp_path / "c")
    for name in (MANIFEST_FILE, "report.json"):
        (tmp_path / "c" / name).write_bytes(b"{")
    with pytest.raises(DamagedError):
        octavo.compare(**COMPARE, output=tmp_path / "c")
    with refused("not-ours", octavo.OutputError, file="c", names=["points.parquet"]):
        octavo.compare(**COMPARE, output=tmp_path / "c", force=True)
    for name in {name for name in expected if "/" not in name} - {MANIFEST_FILE}:
        (tmp_path / "c" / name).unlink()
    octavo.compare(**COMPARE, output=tmp_path / "c", force=True)
    assert contents(tmp_path / "c") == expected


def test_a_comparison_or_sweep_without_a_manifest_is_nobodys(tmp_path):
    """Neither resumed nor replaced, and refused before anything runs."""
    grid = {"scenario": SCENARIO, "grid": {"node.gpus": [2]}}
    octavo.compare(**COMPARE, output=tmp_path / "c")
    octavo.sweep(grid, output=tmp_path / "s")
    for folder in ("c", "s"):
        (tmp_path / folder / MANIFEST_FILE).unlink()
        shutil.rmtree(tmp_path / folder / "runs")
    before = contents(tmp_path)
    for force in (False, True):
        with refused("not-ours", octavo.OutputError, file="c", names=["points.parquet"]):
            octavo.compare(**COMPARE, output=tmp_path / "c", force=force)
        with refused("not-ours", octavo.OutputError, file="s", names=["points.parquet"]):
            octavo.sweep(grid, output=tmp_path / "s", force=force)
    assert {name: content for name, content in contents(tmp_path).items() if "lock" not in name} == before


@pytest.mark.parametrize("content", ["mine", "{}"])
@pytest.mark.parametrize(
    "write",
    [
        lambda folder: octavo.compare(**COMPARE, output=folder, force=True),
        lambda folder: octavo.sweep({"scenario": SCENARIO, "grid": {"node.gpus": [2]}}, output=folder, force=True),
    ],
)
def test_force_takes_no_file_that_only_has_a_known_name(tmp_path, write, content):
    """Where no manifest says that the folder is Octavo's."""
    names = ("report.json", "sweep.json", "points.parquet", "sweep.png", "speedups.png", "jobs.parquet")
    for name in names:
        (tmp_path / name).write_text(content)
    with pytest.raises(octavo.OutputError):
        write(tmp_path)
    kept = contents(tmp_path)
    assert {name: kept.get(name) for name in names} == dict.fromkeys(names, content.encode())


def into_result(folder):
    return swap.locked(folder, FILES)


def into_experiment(folder):
    return folder_locks.opened(folder, EXPERIMENT, force=False)


@pytest.mark.parametrize("opened", [into_result, into_experiment, atomic.replaced_file])
def test_only_errors_about_a_folder_blame_it(tmp_path, opened):
    written = tmp_path / "out"
    for error in (FileNotFoundError(2, "none", str(tmp_path / "other.csv")), TimeoutError("nobody answers")):
        with pytest.raises(type(error)) as found, opened(written):
            raise error
        assert found.value is error
    for error in (
        OSError(28, "No space left"),
        PermissionError(13, "no", str(written / "a")),
        OSError(2, "", os.fsencode(written)),
    ):
        with refused("unwritable", octavo.OutputError, file="out"), opened(written):
            raise error


@pytest.mark.parametrize(
    ("name", "concerned"),
    [
        ("/a/b/out", True),
        ("/a/b/out/x/y", True),
        ("/a/b", True),
        ("/a/b/.out.octavo-new/x", True),
        ("/a/b/out.octavo-old", True),
        ("/a/b/other", False),
        ("/a/b/output", False),
        ("/a/c/out", False),
    ],
)
def test_what_a_folder_is_blamed_for(name, concerned):
    assert blame.concerns(OSError(13, "no", name), Path("/a/b/out")) == concerned
    assert blame.concerns(OSError(13, "no", "/elsewhere", None, name), Path("/a/b/out")) == concerned
