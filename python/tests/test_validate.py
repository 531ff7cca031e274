"""Agreement with MGPUSim: exact results of a few programs, goals over all of them, and what goes wrong in words."""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import importlib.util
import json
import lzma
import os
import shutil
from pathlib import Path

import polars as pl
import pytest
from conftest import contents, refused

from octavo import ValidationError
from octavo.files.manifest import MANIFEST_FILE
from octavo_studies import validate
from octavo_studies.validate import launches, reference, rerun, tables
from octavo_studies.validate.counts import error
from octavo_studies.validate.sheet import sheet
from octavo_studies.validate.tables import write_markdown

HOME = Path(__file__).parents[2]
TABLE = HOME / "validation" / reference.FILE
FEW = HOME / "traces"
"""Traces that the repository has; `make traces` records the others."""
ASIDE = HOME / "validation" / "set-aside"
"""Results of points that were set aside, until a cause was looked for on one of them."""
ASIDE_LATER = HOME / "validation" / "set-aside-2"
"""The same of others."""
UNSEEN = HOME / "validation" / "set-aside-3"
"""The same of points that nothing was made on."""
ALL_ASIDE = (ASIDE, ASIDE_LATER, UNSEEN)
DIGESTS = HOME / "validation" / "traces.sha256"
SHEET = "octavo.csv"
"""Beside each table: what Octavo finds."""
DOCUMENT = HOME / "docs" / "validation.md"


def recorded(table):
    """The folder of all traces of a table; the test ends if they are not there."""
    traces = table.parent / "traces"
    missing = [
        row.name for row in reference.load(table) if not (traces / f"{row.name}.trace" / MANIFEST_FILE).is_file()
    ]
    if missing:
        end = pytest.fail if os.environ.get("OCTAVO_TRACES") == "required" else pytest.skip
        end(f"{traces.relative_to(HOME)} lacks {len(missing)} traces: `make traces` records them (needs Go)")
    return traces


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """All runs of the reference."""
    return validate.mgpusim(tmp_path_factory.mktemp("all") / "out", table=TABLE, traces=recorded(TABLE))


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """Those that the repository has traces of."""
    return validate.mgpusim(tmp_path_factory.mktemp("few") / "out", table=TABLE, traces=FEW)


@pytest.fixture(params=["few", "everything"])
def found(request):
    """Either of them."""
    return request.getfixturevalue(request.param)


def small(tmp_path, **arguments):
    arguments = {"table": TABLE, "traces": FEW, "only": ["fir"], "gpus": [1], **arguments}
    return validate.mgpusim(tmp_path / "out", **arguments)


def check_sheet(found, table):
    """The sheet beside a table has exactly these rows of these runs, in their order."""
    noted = pl.read_csv(table.with_name(SHEET))
    own = sheet(found)
    beside = noted.filter(pl.col("name").is_in(own["name"].to_list()))
    assert own.write_csv() == beside.write_csv(), "`make validation` notes deliberate changes of the model"
    return noted


def test_a_few_programs_take_exactly_as_long_as_noted(few):
    """After a deliberate change of the model, `make validation` notes the new times: look at the difference."""
    noted = check_sheet(few, TABLE)
    assert few.rows.height >= 12
    assert noted["name"].to_list() == [row.name for row in reference.load(TABLE)]


def test_all_programs_take_exactly_as_long_as_noted(everything):
    assert check_sheet(everything, TABLE).height == everything.rows.height


def test_kernel_times_meet_their_goals(found):
    judged = [summary for summary in found.summaries if not summary.with_unreliable]
    assert [summary.gpus for summary in judged] == [1, 4]
    for summary in judged:
        assert summary.mape <= summary.goals.mape
        assert abs(summary.worst) <= summary.goals.worst
        assert summary.rank_correlation > 0.98


def test_enough_programs_are_compared(few, everything):
    assert not everything.without_trace
    single = everything.rows.filter(gpus=1).group_by("benchmark").len()
    assert single.filter(pl.col("len") >= 2).height >= 15
    assert few.rows["benchmark"].n_unique() >= 15
    beside = everything.rows.filter(pl.col("name").is_in(few.rows["name"].to_list()))
    assert beside.equals(few.rows), "traces of one name differ"


def test_the_document_holds_the_summary(everything, tmp_path):
    """`make validation` puts a new one there."""
    check_document(everything, tmp_path)


def check_document(found, tmp_path):
    copy = tmp_path / DOCUMENT.name
    shutil.copy(DOCUMENT, copy)
    write_markdown(copy, found)
    assert copy.read_text(encoding="utf-8") == DOCUMENT.read_text(encoding="utf-8")


def test_a_document_gets_what_it_has_marks_for(few, tmp_path):
    page = tmp_path / "page.md"
    own, others = tables.marks_of(few.reference), tables.marks_of(ASIDE / reference.FILE)
    page.write_text("\n".join(["before", *own, "between", *tables.SUMMARY, *others, "after"]))
    write_markdown(page, few)
    errors, rest = page.read_text().split("between")
    assert "| 4 GPUs |" in errors
    assert "| walks |" not in errors
    assert rest == "\n".join(["", *tables.SUMMARY, *others, "after"])
    page.write_text("\n".join(tables.SUMMARY))
    write_markdown(page, few)
    assert "| walks |" in page.read_text()


@pytest.mark.parametrize("aside", ALL_ASIDE, ids=lambda path: path.name)
def test_no_point_that_was_set_aside_is_in_another_set(aside):
    """Nor one that the model was made on."""
    others = [TABLE, *(one / reference.FILE for one in ALL_ASIDE if one != aside)]
    known = {row.name for other in others for row in reference.load(other)}
    assert not known & {row.name for row in reference.load(aside / reference.FILE)}


@pytest.mark.parametrize(("aside", "runs"), [(ASIDE, 1), (ASIDE_LATER, 1), (UNSEEN, 2)])
def test_a_few_points_that_were_set_aside_are_as_noted(tmp_path, aside, runs):
    found = validate.mgpusim(tmp_path / "out", table=aside / reference.FILE, traces=FEW)
    assert found.rows.height == runs
    noted = check_sheet(found, aside / reference.FILE)
    assert noted["name"].to_list() == [row.name for row in reference.load(aside / reference.FILE)]


@pytest.mark.parametrize(("aside", "points"), [(ASIDE, 21), (ASIDE_LATER, 20), (UNSEEN, 20)])
def test_points_that_were_set_aside_stay_as_near(tmp_path, aside, points):
    """About what was found when the model was finished; the document has these errors."""
    table = aside / reference.FILE
    found = validate.mgpusim(tmp_path / "out", table=table, traces=recorded(table))
    assert not found.without_trace
    assert [(one.gpus, one.runs) for one in found.summaries] == [(1, points), (4, points)]
    assert all(one.mape < 0.04 and abs(one.worst) < 0.2 for one in found.summaries)
    check_sheet(found, table)
    check_document(found, tmp_path)


def test_traces_stay_small():
    sizes = [sum(file.stat().st_size for file in trace.iterdir()) for trace in FEW.glob("*.trace")]
    assert max(sizes) < 300_000
    assert sum(sizes) < 1_500_000


@pytest.mark.parametrize(
    "table", [TABLE, *(one / reference.FILE for one in ALL_ASIDE)], ids=lambda path: path.parent.name
)
def test_recorded_traces_stay_small(table):
    sizes = [sum(file.stat().st_size for file in trace.iterdir()) for trace in recorded(table).glob("*.trace")]
    assert max(sizes) < 1_000_000
    assert sum(sizes) < (10_000_000 if table == TABLE else 5_000_000)


def test_units_of_the_reference_add_up():
    """The table per unit, which only people read."""
    units = pl.read_csv(
        lzma.decompress(TABLE.with_name(f"{TABLE.stem}-units.csv.xz").read_bytes()), infer_schema_length=None
    )
    of_units = units.filter(unit="CU", metric="cu_inst_count").group_by("benchmark", "parameters", "gpus")
    found = of_units.agg(pl.col("value").sum().cast(pl.Int64)).sort(pl.all())
    rows = [(row.benchmark, row.parameters, row.gpus, row.counts["instructions"]) for row in reference.load(TABLE)]
    assert found.rows() == sorted(rows)


def test_every_trace_has_a_digest():
    """`make traces` compares; here only those are read that the repository has."""
    listed = dict(line.split("  ")[::-1] for line in DIGESTS.read_text().splitlines())
    tables = [TABLE, *(one / reference.FILE for one in ALL_ASIDE)]
    names = [table.parent / "traces" / f"{row.name}.trace" for table in tables for row in reference.load(table)]
    manifests = [folder / MANIFEST_FILE for folder in [*FEW.glob("*.trace"), *names]]
    assert listed.keys() == {path.relative_to(HOME).as_posix() for path in manifests}
    for path in FEW.glob(f"*.trace/{MANIFEST_FILE}"):
        assert hashlib.sha256(path.read_bytes()).hexdigest() == listed[path.relative_to(HOME).as_posix()], path


def points_of_the_script():
    script = HOME / "tools" / "mgpusim-reference" / "points.py"
    spec = importlib.util.spec_from_file_location("reference_points", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_recorder_names_traces_as_they_are_looked_for():
    module = points_of_the_script()
    without = dataclasses.replace(reference.load(TABLE)[0], benchmark="xor", parameters="")
    for row in (*reference.load(TABLE), without):
        assert module.trace_name(row.benchmark, row.parameters, row.gpus) == f"{row.name}.trace"
    assert without.name == "xor"


def test_points_of_ones_own_are_read():
    module = points_of_the_script()
    found = module.own(["fir  -length 5000 -taps 7", "xor"], [1, 4])
    assert [point.key for point in found] == [
        ("fir", "-length 5000 -taps 7", "1"),
        ("fir", "-length 5000 -taps 7", "4"),
        ("xor", "", "1"),
        ("xor", "", "4"),
    ]
    with pytest.raises(ValueError, match="there is no benchmark 'fur'; expected aes"):
        module.own(["fur -length 5"], [1])


def test_launches_add_up_to_their_run_and_errors_do_not_cancel(found):
    launches = found.launches
    sums = launches.group_by("name").agg(pl.col("time_ps", "time_reference_ps").sum(), pl.len())
    beside = found.rows.join(sums, on="name")
    assert beside.height > (60 if found.rows.height == 100 else 10)
    assert (beside["time_ps"] == beside["kernel_time_ps"]).all()
    assert (beside["time_reference_ps"] == beside["kernel_time_reference_ps"]).all()
    assert (beside["launches"] == beside["len"]).all()
    assert (beside["launch_error"] >= beside["kernel_time_error"].abs() - 1e-12).all()
    cancelled = beside["launch_error"] > 1.05 * beside["kernel_time_error"].abs()
    assert cancelled.any(), "launches of some runs err in opposite ways"


def errors_without_decoder(usual, traces, tmp_path, benchmark):
    """Largest errors of a benchmark's runs on one GPU: as usual, and without the decoder that SIMDs share."""
    found = small(tmp_path, traces=traces, only=[benchmark], overrides=["node.compute.vector_decoder=0"]).rows
    beside = usual.rows.filter(pl.col("name").is_in(found["name"].to_list()))
    return [rows["kernel_time_error"].abs().max() for rows in (beside, found)]


def test_a_part_of_the_model_is_changed(few, tmp_path):
    as_usual, without = errors_without_decoder(few, FEW, tmp_path, "bfs")
    assert 2.5 * as_usual < without
    assert 0.03 < without < 0.05
    with refused("unexpected-value", line=37, key="node.compute.vector_decoder"):
        small(tmp_path / "alone", overrides=["node.compute.issues_in_time_order=false"])


def test_without_the_shared_decoder_full_units_are_too_fast(everything, tmp_path):
    as_usual, without = errors_without_decoder(everything, recorded(TABLE), tmp_path, "simpleconvolution")
    assert as_usual < 0.08
    assert without > 0.25


def test_errors_net_of_the_constant_are_larger():
    constant = launches.CONSTANT_PS
    assert launches.net(constant + 110, constant + 100, 1) == pytest.approx(0.1)
    assert launches.net(3 * constant + 50, 3 * constant + 100, 3) == pytest.approx(-0.5)


def test_a_run_of_other_launches_than_the_reference_is_refused(tmp_path):
    table = tmp_path / TABLE.name
    shutil.copy(TABLE, table)
    packed = TABLE.with_name(f"{TABLE.stem}-launches.csv.xz")
    noted = lzma.decompress(packed.read_bytes()).decode().splitlines()
    (tmp_path / f"{TABLE.stem}-launches.csv").write_text("\n".join(noted[:2]))
    with refused("conflict", ValidationError, found=2, expected=1):
        small(tmp_path, table=table, only=["atax"])
    (tmp_path / f"{TABLE.stem}-launches.csv").write_text("benchmark,gpus\natax,1")
    (tmp_path / packed.name).write_text("not read beside the other")
    with refused("missing", ValidationError, file="mgpusim-v4.2.0-launches.csv"):
        small(tmp_path, table=table, only=["atax"])


def test_results_do_not_depend_on_the_number_of_workers(tmp_path):
    one = small(tmp_path / "one", workers=1)
    two = small(tmp_path / "two", workers=2)
    assert contents(one.root) == contents(two.root)


def test_a_second_call_keeps_what_is_finished(tmp_path):
    small(tmp_path)
    seen = []
    small(tmp_path, watch=seen.append)
    assert not seen
    with refused("other-result", file="out"):
        small(tmp_path, only=["aes"])


def test_summaries_with_and_without_what_the_reference_computes_wrongly(tmp_path):
    found = small(tmp_path, only=["bitonicsort", "fir"])
    assert [(summary.runs, summary.with_unreliable) for summary in found.summaries] == [(1, False), (2, True)]


def test_errors_of_counts():
    assert error(110, 100) == pytest.approx(0.1)
    assert error(0, 0) == 0.0
    assert error(1, 0) is None


def test_definitions_say_where_they_differ(tmp_path):
    definitions = {one["count"]: one for one in small(tmp_path).to_dict()["definitions"]}
    assert not definitions["l1_tlb_hits"]["judged"]
    assert "instruction fetches" in definitions["dram_reads"]["differs"]


def test_the_command_writes_tables_and_a_picture(cli, tmp_path):
    of_these = ("--reference", str(TABLE), "--traces", str(FEW))
    arguments = ("validate", "mgpusim", "--only", "fir,floydwarshall", *of_these)
    done = cli(*arguments, "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "Kernel time: errors and goals" in done.stdout
    assert "Goals: not all met" in done.stdout
    assert (tmp_path / "out" / "validation.png").read_bytes().startswith(b"\x89PNG")
    rows = pl.read_parquet(tmp_path / "out" / "validation.parquet")
    assert rows.height == len(list(csv.reader((tmp_path / "out" / "validation.csv").open()))) - 1 == 3
    again = cli(*arguments, "-o", "out", "--json", "--strict", "--csv", "rows.csv")
    assert pl.read_csv(tmp_path / "rows.csv")["kernel_time_ps"].equals(rows["kernel_time_ps"])
    assert again.returncode == 1
    assert json.loads(again.stdout)["rows"] == json.loads((tmp_path / "out" / "report.json").read_text())["rows"]


@pytest.mark.parametrize(
    ("arguments", "code", "facts"),
    [
        ({"only": ["firr"]}, "unknown-name", {"found": "firr"}),
        ({"gpus": [2]}, "missing", {"key": "gpus", "found": 2}),
        ({"table": Path("missing.csv")}, "unreadable", {"file": "missing.csv"}),
        ({"traces": Path("nowhere")}, "missing", {"file": "nowhere"}),
        ({"only": ["nbody"], "gpus": [4], "traces": HOME / "docs"}, "missing", {"file": "docs"}),
    ],
)
def test_what_cannot_be_compared(arguments, code, facts, tmp_path):
    with refused(code, ValidationError, **facts):
        small(tmp_path, **arguments)


def test_a_package_says_that_it_has_no_reference(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(reference, "checkout", lambda: tmp_path)
    with refused("missing", ValidationError, file="mgpusim-v4.2.0.csv") as caught:
        validate.mgpusim(tmp_path / "out")
    assert "a checkout of the repository, or name your own with --reference and --traces" in caught.value.hint


def test_a_table_of_another_version(tmp_path):
    other = tmp_path / "mgpusim-v4.3.0.csv"
    shutil.copy(TABLE, other)
    with refused("other-format", ValidationError, file="mgpusim-v4.3.0.csv", found="v4.3.0", expected="v4.2.0"):
        small(tmp_path, table=other)


def test_a_table_without_some_columns(tmp_path):
    other = tmp_path / "mine.csv"
    other.write_text("benchmark,parameters,gpus,error\nfir,-length 1,1,\n")
    with refused("missing", ValidationError, file="mine.csv"):
        small(tmp_path, table=other)


def test_a_table_with_a_word_for_a_number(tmp_path):
    other = tmp_path / "mine.csv"
    lines = TABLE.read_text().splitlines()[:2]
    lines[1] = lines[1].replace(",56176,", ",many,")
    other.write_text("\n".join(lines))
    with refused("unexpected-value", ValidationError, file="mine.csv", line=2):
        small(tmp_path, table=other)


def test_runs_without_a_trace_are_named(tmp_path):
    some = tmp_path / "traces"
    shutil.copytree(FEW / "fir-length-16384.trace", some / "fir-length-16384.trace")
    found = small(tmp_path, traces=some)
    assert found.rows["name"].to_list() == ["fir-length-16384"]
    assert found.without_trace == ["fir-length-65536", "fir-length-262144"]


def test_the_reference_is_not_run_without_go(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with refused("not-installed", ValidationError, key="Go"):
        small(tmp_path, rerun=True)


def test_the_reference_is_run_into_a_new_table(tmp_path, monkeypatch):
    commands = []

    def script(command, **_):
        commands.append(command)
        shutil.copy(TABLE, command[command.index("--output") + 1])
        return type("Done", (), {"returncode": 0})

    monkeypatch.setattr(rerun.shutil, "which", lambda _: "go")
    monkeypatch.setattr(rerun.subprocess, "run", script)
    found = small(tmp_path, rerun=True)
    assert (found.root / reference.FILE).is_file()
    assert commands[0][commands[0].index("--only") + 1] == "fir"
    assert "--rerun" not in commands[0]
    with refused("conflict", ValidationError, key="rerun"):
        small(tmp_path, table=found.root / reference.FILE, rerun=True)


def test_points_of_ones_own_are_run_noted_and_recorded(tmp_path, monkeypatch):
    commands = []

    def script(command, **_):
        commands.append(command)
        output = Path(command[command.index("--output") + 1])
        lines = TABLE.read_text().splitlines()
        output.write_text("\n".join([lines[0], *(line for line in lines if "fir,-length 16384,1," in line)]))
        if "--record" in command:
            home = Path(command[command.index("--record") + 1])
            shutil.copytree(FEW / "fir-length-16384.trace", home / "fir-length-16384.trace")
        return type("Done", (), {"returncode": 0})

    monkeypatch.setattr(rerun.shutil, "which", lambda _: "go")
    monkeypatch.setattr(rerun.subprocess, "run", script)
    found = validate.mgpusim(tmp_path / "out", points=["fir -length 16384"], gpus=[1])
    assert found.rows["name"].to_list() == ["fir-length-16384"]
    assert found.rows["launches"].to_list() == [1]
    assert all(command[command.index("--point") + 1] == "fir -length 16384" for command in commands)
    modes = [[word for word in command if word in {"--retry-failed", "--launches", "--record"}] for command in commands]
    assert modes == [["--retry-failed"], ["--launches"], ["--record"]]


def test_points_of_ones_own_stand_alone(cli, tmp_path):
    with refused("conflict", ValidationError, key="point"):
        small(tmp_path, points=["fir -length 16384"])
    done = cli("validate", "mgpusim", "--point", "fir -length 5000")
    assert done.returncode != 0
    assert "points of your own need a folder of their own" in done.stderr
