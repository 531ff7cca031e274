"""The Grace Hopper study end to end, on inputs of a thousandth of their size, and its statements on numbers by hand."""

from __future__ import annotations

import json
from dataclasses import replace

import polars as pl
import pytest
from conftest import refused

from octavo.errors import ScenarioError
from octavo.files.notes import OctavoNote
from octavo_studies.engine import series
from octavo_studies.grace_hopper import (
    over_time,
    oversubscription,
    parts,
    phases,
    remedies,
    sizes,
    speeds,
    systems,
)
from octavo_studies.grace_hopper.programs import PROGRAMS
from octavo_studies.grace_hopper.remarks import REMARKS
from octavo_studies.grace_hopper.study import KINDS, Study


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    root = tmp_path_factory.mktemp("grace-hopper") / "study"
    return Study(root, programs=("hotspot", "srad"), scale=1 / 1024, fewer=True)


@pytest.fixture(scope="module")
def relative(study):
    return speeds.relative(study)


def test_speeds_are_those_of_the_phases(relative):
    points = {(row["program"], row["kind"]): row for row in relative.points.to_dicts()}
    assert set(points) == {(program, kind) for program in ("hotspot", "srad") for kind in KINDS}
    for (program, _), row in points.items():
        base = points[program, "explicit"]
        assert sum(row[name] for name in (*phases.NAMES, "context_ps")) == row["time_ps"]
        assert row["computation_speed"] == pytest.approx(base["computation_ps"] / row["computation_ps"])
        whole = row["time_ps"] - row["host_initialisation_ps"] - row["results_ps"]
        assert row["with_allocation_ps"] == whole
    copied = {kind: points["hotspot", kind]["copied_bytes"] for kind in ("system", "explicit")}
    assert 0 < copied["system"] < copied["explicit"], "the grid that stays device memory has the result"


def test_contexts_are_made_in_as_much_less_time_as_inputs_are_smaller(relative, study):
    """Runs have none, as under every other command: it is added to their times."""
    assert set(relative.points["context_ps"]) == {round(132e9 * study.scale)}
    assert "context" not in study.recipe(("hotspot", "managed")).resolve().values["node"]["host"]["costs"]


def test_what_the_cpu_initialises_is_left_out_and_what_the_gpu_alone_uses_stays_device_memory(relative, study):
    rows = {row["program"]: row for row in relative.points.filter(kind="system").to_dicts()}
    assert rows["hotspot"]["host_initialisation_ps"] > 0 == rows["srad"]["host_initialisation_ps"]
    values = study.recipe(("srad", "managed")).resolve().values
    assert values["program"]["buffers"] == {name: {"kind": "device"} for name in PROGRAMS["srad"].only_gpu}
    assert "buffers" not in study.recipe(("srad", "explicit")).resolve().values["program"]


def test_variants_count_what_is_left_out(study, relative):
    part = speeds.tried(study)
    rows = {(row["program"], row["kind"], row["counters"]): row for row in part.points.to_dicts()}
    assert ("srad", "explicit", "on") not in rows, "no counter moves what is copied"
    for row in relative.points.to_dicts():
        same = rows[row["program"], row["kind"], "off"]
        assert same["with_allocation_speed"] == row["with_allocation_speed"]
        explicit = rows[row["program"], "explicit", "off"]
        assert same["time_speed"] == explicit["time_ps"] / same["time_ps"]
    on, off = (rows["hotspot", "system", counters] for counters in ("on", "off"))
    assert on["migrated_in_bytes"] > 0 == off["migrated_in_bytes"]
    assert on["remote_lines"] <= off["remote_lines"], "what moves at the end of a kernel comes too late for it"


def test_colours_of_variants_are_those_of_kinds(study, monkeypatch):
    drawn = []
    monkeypatch.setattr(series.pictures, "bars", lambda _, table, **_more: drawn.append(table))
    speeds.tried(study)
    for table in drawn:
        assert table.columns == ["program", *KINDS]
        assert table["program"].to_list() == ["hotspot", "hotspot, counters on", "srad", "srad, counters on"]
    assert len(drawn) == len(speeds.SPEEDS)


def test_system_memory_is_read_where_it_is_with_counters_off(relative):
    rows = {row["kind"]: row for row in relative.points.filter(program="hotspot").to_dicts()}
    assert rows["system"]["remote_lines"] > 0 == rows["system"]["migrated_in_bytes"]
    assert rows["managed"]["migrated_in_bytes"] > 0


def test_small_pages_are_touched_one_by_one(study):
    rows = {(row["program"], row["kind"], row["pages"]): row for row in sizes.pages(study).points.to_dicts()}
    for kind in ("managed", "system"):
        small, large = (rows["srad", kind, size] for size in ("4KiB", "64KiB"))
        assert small["deallocation_ps"] > large["deallocation_ps"]
    assert rows["srad", "system", "4KiB"]["initialise_ps"] > rows["srad", "system", "64KiB"]["initialise_ps"]


def test_iterations_are_all_there_and_traffic_is_theirs(study):
    points = over_time.srad(study).points
    for kind in ("managed", "system"):
        for first in ("GPU", "CPU"):
            found = points.filter((pl.col("kind") == kind) & (pl.col("image by") == first))
            assert found["iteration"].to_list() == list(range(1, 13))
            assert (found["time_ps"] > 0).all()
    assert (points["l1_l2_bytes"] > 0).all()


def test_more_qubits_take_longer_and_small_pages_are_made_one_by_one(study):
    part = sizes.qubits(replace(study, programs=("quantum-volume",)))
    assert part.points["qubits"].unique().sort().to_list() == [14, 16, 18], "a quarter of a thousandth of 30"
    for kind in ("managed", "system"):
        for size in ("4KiB", "64KiB"):
            found = part.points.filter(kind=kind, pages=size)
            assert found["gates_ps"].is_sorted()
            assert found["initialise_ps"].is_sorted()
    initialise = {row["pages"]: row["initialise_ps"] for row in part.points.filter(kind="system", qubits=18).to_dicts()}
    assert initialise["4KiB"] > 10 * initialise["64KiB"], "sixteen times as many first touches"
    assert (part.root / "gates.png").stat().st_size > 5000


def test_memory_is_left_by_the_ratio(study):
    part = oversubscription.sweep(study)
    assert part.points["program"].unique().to_list() == ["hotspot"], "srad has no memory that a balloon pushes out"
    ratios = part.points.filter(kind="managed")["ratio"].to_list()
    assert ratios == sorted(ratios)
    peak = study.peak("hotspot")
    scenario = study.recipe(("hotspot", "managed"), systems.left_free(4 << 20)).resolve()
    assert scenario.values["node"]["capacity"]["bytes"] == "4MiB"
    assert peak == 3 * (2 << 20), "three arrays of a mebibyte, a chunk each"


def test_prefetch_is_asked_for_before_launches(study):
    part = oversubscription.rescue(study)
    assert part.points["prefetch"].to_list() == [
        "enough memory",
        "no prefetch",
        "before the first launch",
        "before each launch",
    ]
    assert json.loads((part.root / "report.json").read_text())["shown"] == part.shown.to_dicts()
    assert (part.root / "speed.png").stat().st_size > 5000


def test_remedies_spare_the_gpu_its_first_touch(study):
    part = remedies.tried(study)
    assert part.points["program"].unique().to_list() == ["srad"]
    rows = {(row["pages"], row["remedy"]): row for row in part.points.to_dicts()}
    for size in ("4KiB", "64KiB"):
        none, loop, registered = (rows[size, name] for name in ("none", "CPU loop", "cudaHostRegister"))
        for found in (loop, registered):
            assert found["initialise_ps"] < none["initialise_ps"], "no entry is made in the launch"
            assert found["before_ps"] > none["before_ps"], "but before"
            assert found["remote_lines"] > none["remote_lines"], "and the pages are on the host"
    counted = rows["64KiB", "CPU loop, threshold 256"]
    assert 0 < counted["remote_lines"] < rows["64KiB", "CPU loop"]["remote_lines"], "pages come to the GPU"
    assert ("4KiB", "CPU loop, threshold 256") not in rows, "counters tell nothing of small pages"


def test_throughput_is_of_three_levels(study):
    part = oversubscription.throughput(replace(study, programs=("quantum-volume",)))
    rows = {row["memory"]: row for row in part.points.to_dicts()}
    assert set(rows) == {"managed", "managed, prefetch", "system"}
    for row in rows.values():
        assert row["L1-L2_bytes_per_second"] > 0
        assert row["launches_ps"] > 0
    assert rows["system"]["C2C_bytes_per_second"] > 0
    assert (part.root / "throughput.png").stat().st_size > 5000


@pytest.mark.parametrize(
    ("asked", "runs"),
    [
        ({"programs": ("srad",)}, ("kinds", "variants", "srad", "page-sizes", "remedies")),
        ({"programs": ("bfs",)}, ("kinds", "variants", "page-sizes")),
        ({"programs": ("hotspot",)}, ("kinds", "variants", "page-sizes", "oversubscription", "prefetch", "memory")),
        ({"kinds": ("explicit",)}, ("kinds", "variants", "oversubscription", "memory")),
        (
            {"kinds": ("system",)},
            (
                "kinds",
                "variants",
                "srad",
                "page-sizes",
                "qubits",
                "oversubscription",
                "throughput",
                "remedies",
                "memory",
            ),
        ),
        (
            {"programs": ("quantum-volume",), "node": "x86-h100-hmm"},
            ("kinds", "page-sizes", "qubits", "oversubscription", "prefetch", "remedies", "memory"),
        ),
    ],
)
def test_parts_without_runs_are_skipped_with_a_note_and_refused_by_name(asked, runs):
    study = Study(**asked)
    with pytest.warns(OctavoNote) as notes:
        assert tuple(parts.chosen(study, ())) == runs
    skipped = [name for name in parts.PARTS if name not in runs]
    assert [str(note.message).split(" is skipped: it has runs of ")[0] for note in notes] == [
        f"part `{name}`" for name in skipped
    ]
    assert tuple(parts.chosen(study, runs)) == runs
    for name in skipped:
        with refused("conflict", ScenarioError, key=name):
            parts.chosen(study, (*runs, name))
        with refused("conflict", ScenarioError, key=name):
            parts.PARTS[name](study)


def test_what_has_no_runs_costs_nothing_else(cli, tmp_path):
    few = ("reproduce", "grace-hopper", "--program", "bfs", "--kind", "explicit,managed", "--scale", "1/1024")
    done = cli(*few, "--part", "kinds", "--part", "memory", "-o", "named")
    assert done.returncode == 2
    assert "part `memory`: it has runs of hotspot, quantum-volume only, not of bfs" in done.stderr
    assert not (tmp_path / "named").exists()
    done = cli(*few, "-o", "all", "--json")
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)) == {"folder", "remarks", "kinds", "variants", "page-sizes"}
    # Five notes of a kind are shown.
    assert done.stderr.count("is skipped") == 5
    assert f"and {len(parts.PARTS) - 3 - 5} more of these" in done.stderr


def test_speeds_are_over_explicit_copies_wherever_they_stand(tmp_path):
    def relative(*asked):
        return speeds.relative(Study(tmp_path / "-".join(asked), programs=("bfs",), kinds=asked, scale=1 / 1024))

    part = relative("managed", "explicit")
    assert part.title == "Speed over explicit copies, access counters off"
    assert part.points.filter(kind="explicit")["computation_speed"].to_list() == [1.0]
    assert part.points.filter(kind="managed")["computation_speed"].to_list() != [1.0]
    assert relative("system", "managed").title == "Speed over managed memory, access counters off"


def point(program, kind, time, **more):
    """A row of the part `kinds`, with what statements look at."""
    zero = {"copied_bytes": 0, "faults": 0, "migrated_in_bytes": 0, "remote_lines": 0, "deallocation_ps": 0}
    return {"program": program, "kind": kind, "with_allocation_ps": time, **zero, **more}


def judged(**frames):
    """Remarks by name, of points that have what judges read."""
    return {row["id"]: row for row in REMARKS.judged(frames) if row["id"] in REMARKS.judges}


def test_remarks_follow_from_numbers():
    rows = [
        *(point("hotspot", kind, time) for kind, time in (("explicit", 10), ("managed", 9), ("system", 3))),
        *(point("needle", kind, time) for kind, time in (("explicit", 2), ("managed", 9), ("system", 12))),
        *(point("srad", kind, time) for kind, time in (("explicit", 1), ("managed", 9), ("system", 12))),
    ]
    found = judged(kinds=pl.DataFrame(rows))
    assert {name: found[name]["verdict"] for name in ("GH22", "S1", "GH31")} == {
        "GH22": "in part",
        "S1": "holds",
        "GH31": "in part",
    }
    assert "hotspot 3.00, needle 0.75" in found["GH22"]["found"]
    slow = [
        {"program": "hotspot", "kind": kind, "asked": asked, "slowdown": slowdown, "evicted_pages": 7}
        for kind, asked, slowdown in (
            ("managed", 1.0, 1.0),
            ("managed", 2.0, 5.0),
            ("system", 1.0, 1.0),
            ("system", 2.0, 1.5),
        )
    ]
    row = judged(oversubscription=pl.DataFrame(slow))["GH38"]
    assert row["verdict"] == "holds"
    assert "hotspot 7" in row["found"]


def test_bad_options_are_named(cli):
    done = cli("reproduce", "grace-hopper", "--program", "hotspots")
    assert done.returncode == 2
    assert "hotspots" in done.stderr
    assert "needle" in done.stderr
    with refused("unknown-name", ScenarioError, key="kind", found="pinned"):
        Study(kinds=("pinned",))
