"""`octavo validate programs` on times that are known to agree, and known not to."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from conftest import contents, refused
from test_activity import CPU, CPU_FAULT, DTOH, GPU_FAULT, HTOD, PAGE, record

import octavo
from octavo_studies import validate
from octavo_studies.validate.programs import phases, records, scenarios, times, words
from octavo_studies.validate.programs.order import Order
from octavo_studies.validate.programs.sheet import sheet
from octavo_studies.validate.programs.times import Spread

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
NODE = "cuda-sm90"
KINDS = ("device", "managed", "managed-prefetch", "pinned")
SCALE = 0.015625
Row = dict[str, Any]


def measured(program: str, kind: str) -> times.Measured:
    return times.Measured(program, SCALE, kind, 1, {})


@pytest.fixture(scope="module")
def simulated() -> dict[tuple[str, str], octavo.RunResult]:
    programs = [(program, kind) for program in ("vectoradd", "bfs-shoc") for kind in KINDS]
    return {each: octavo.run(scenarios.scenario(measured(*each), NODE)) for each in programs}


def rows_of(program: str, kind: str, result: octavo.RunResult) -> list[Row]:
    """Three repetitions whose median is what was simulated."""
    row = phases.seconds(result)
    key = {"program": program, "scale": SCALE, "kind": kind, "bytes": 1, "launches": 1}
    factors = (1.0, 1.5, 0.5)
    return [
        {**key, "repetition": n, **{name: value * factor for name, value in row.items()}}
        for n, factor in enumerate(factors, 1)
    ]


def write(path: Path, rows: list[Row]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture(scope="module")
def table(simulated, tmp_path_factory) -> Path:
    """What the simulated programs would have printed, and a program that Octavo has not."""
    rows = [row for (program, kind), result in simulated.items() for row in rows_of(program, kind, result)]
    return write(tmp_path_factory.mktemp("measured") / "table.csv", [*rows, {**rows[0], "program": "hashjoin"}])


@pytest.fixture(scope="module")
def found(table, tmp_path_factory) -> validate.ProgramsValidation:
    return validate.programs(table, tmp_path_factory.mktemp("validated") / "out", node=NODE)


def test_what_was_made_from_simulation_has_no_errors(found):
    assert found.rows.height == 2 * len(KINDS) * len(times.TIMES)
    errors = found.rows["error"].drop_nulls()
    assert errors.abs().max() == pytest.approx(0, abs=1e-9)
    assert found.rows.filter(found.rows["measured"] == 0)["error"].null_count() > 0
    assert found.errors("total")["worst"].to_list() == pytest.approx([0] * len(KINDS), abs=1e-9)
    for time in ("total", "kernels_event"):
        for order in found.orders(time).values():
            assert order.measured == order.simulated
            assert (order.pairs, order.alike, order.regret) == (6, 6, 0)
    assert found.left_out == {"hashjoin": "there is no such workload"}


def test_phases_are_those_of_the_run(simulated):
    for (program, kind), result in simulated.items():
        seconds, ps = phases.seconds(result), result.summary["phases"]
        assert sum(seconds[name] for name in times.PHASES) == pytest.approx(seconds["total"])
        assert seconds["total"] == pytest.approx(1e-12 * result.summary["time_ps"])
        assert seconds["allocate"] == pytest.approx(1e-12 * ps["allocation_ps"])
        assert seconds["free"] == pytest.approx(1e-12 * ps["deallocation_ps"])
        assert seconds["kernels_event"] == pytest.approx(1e-12 * ps["kernels_ps"])
        assert 0 < seconds["kernels_run"] < seconds["kernels_event"]
        between = program == "bfs-shoc"
        assert (seconds["kernels"] > seconds["kernels_event"] * 1.001) == between, kind
        assert (seconds["copy_in"] > 0) == (kind in ("device", "managed-prefetch"))
        assert (seconds["copy_out"] > 0) == (kind == "device")


def test_the_run_is_the_one_that_was_measured(simulated):
    scenario = simulated["vectoradd", "managed-prefetch"].scenario
    values = scenario.values
    assert {name for name, buffer in values["program"]["buffers"].items() if buffer["prefetch"] == "gpu0"} == {"b", "c"}
    assert values["memory"]["guard"]["name"] == "stock-driver"
    assert values["node"]["host"]["costs"].get("context", "0ns") == "0ns"
    assert simulated["vectoradd", "device"].scenario.kind == "explicit"


def test_a_changed_time_is_found(table, found, tmp_path):
    with table.open() as file:
        rows: list[Row] = list(csv.DictReader(file))
    for row in rows:
        if (row["program"], row["kind"]) == ("vectoradd", "device"):
            row["total"], row["kernels_event"] = float(row["total"]) * 1000, float(row["kernels_event"]) * 2
    again = validate.programs(write(tmp_path / "t.csv", rows), tmp_path / "out", node=NODE, only=["vectoradd"])
    assert dict(again.errors("total").select("kind", "worst").iter_rows())["device"] == pytest.approx(-0.999)
    assert dict(again.errors("kernels_event").select("kind", "worst").iter_rows())["device"] == pytest.approx(-0.5)
    before, after = (each.orders("total")["vectoradd", SCALE] for each in (found, again))
    assert after.measured[-1] == "device"
    assert after.simulated == before.simulated
    assert after.alike == 6 - (3 - before.simulated.index("device"))


def test_order_counts_pairs_and_what_the_simulated_best_costs():
    spreads = {"a": Spread(0.9, 1.0, 1.1), "b": Spread(1.05, 1.2, 1.3), "c": Spread(2.9, 3.0, 3.1)}
    order = Order.of(spreads, {"a": 2.0, "b": 1.0, "c": 3.0})
    assert (list(order.measured), list(order.simulated)) == (["a", "b", "c"], ["b", "a", "c"])
    assert (order.pairs, order.alike, order.told_apart, order.told_apart_alike) == (3, 2, 2, 2)
    assert order.regret == pytest.approx(0.2)


def test_it_leaves_tables_picture_and_report_and_goes_on_where_it_was(table, found):
    names = {path.name for path in found.root.iterdir()}
    assert {"programs.parquet", "programs.csv", "programs.png", "report.json", "runs"} <= names
    before = contents(found.root)
    again = validate.programs(table, found.root, node=NODE)
    assert again.rows.equals(found.rows)
    assert contents(found.root) == before


def test_a_document_gets_the_errors_between_its_marks(found, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n\n{}\nold\n{}\n\nafter\n".format(*words.marks("m")))
    words.write_markdown(page, found, "m")
    text = page.read_text()
    assert "old" not in text
    assert "12 of 12 pairs of kinds are ordered alike. Left out: hashjoin (there is no such workload)." in text
    assert "| by total | 12 of 12 |" in text
    with refused("missing", octavo.OutputError, file="page.md"):
        words.write_markdown(page, found, "other")


def test_the_sheet_has_each_time_of_each_row_in_ms(found):
    rows = sheet(found)
    assert rows.height * len(times.TIMES) == found.rows.height
    for row in found.rows.to_dicts():
        (beside,) = rows.filter(program=row["program"], scale=row["scale"], kind=row["kind"]).to_dicts()
        for name in ("measured", "simulated"):
            assert beside[f"{row['time']}_{name}_ms"] == pytest.approx(1e3 * row[name], rel=1e-3)


def test_records_are_counted_beside_the_run(table, simulated, tmp_path):
    from_records = (
        record(CPU_FAULT, 1)
        + record(CPU_FAULT, 1)
        + record(GPU_FAULT, 7, flags=1)
        + record(HTOD, 2 * PAGE, source=CPU, flags=2)
        + record(HTOD, 3 * PAGE, source=CPU, flags=3)
        + record(HTOD, 5 * PAGE, source=CPU, flags=1)
        + record(DTOH, 4 * PAGE, target=CPU, flags=2)
    )
    (tmp_path / "records").mkdir()
    (tmp_path / "records" / f"vectoradd-{SCALE}-managed-1.activity.bin").write_bytes(from_records)
    found = validate.programs(table, tmp_path / "out", node=NODE, recordings=tmp_path / "records", only=["vectoradd"])
    assert found.counts is not None
    (row,) = found.counts.to_dicts()
    counts = {name: row[name] for name in records.COUNTS}
    moved = {"by_fault": 2 * PAGE, "by_prefetch": 3 * PAGE, "by_user": 5 * PAGE, "back": 4 * PAGE}
    assert counts == {"faults": 7, "groups": 1, "cpu_faults": 2, **moved}
    result = simulated["vectoradd", "managed"]
    links = dict(zip(result.table("links")["link"], result.table("links").to_dicts(), strict=True))
    to_gpu, back = links["host->gpu0"], links["gpu0->host"]
    assert row["simulated_by_fault"] == to_gpu["migration"] > 0
    assert row["simulated_by_prefetch"] == to_gpu["prefetch"]
    assert row["simulated_by_user"] == 0
    assert row["simulated_back"] == back["migration"] + back["prefetch"]
    assert row["simulated_groups"] == result.summary["batches"] > 0
    prefetched = records.simulated(simulated["vectoradd", "managed-prefetch"])
    assert prefetched["by_user"] > 0
    assert prefetched["by_fault"] == prefetched["by_prefetch"] == 0


def test_the_command_prints_tables_and_takes_changes(cli, table, tmp_path):
    options = ["--node", NODE, "--only", f"vectoradd/{SCALE:g}/device", "--set", "node.host_link.bandwidth=1GB/s"]
    done = cli("validate", "programs", str(table), *options, "-o", "out", "--json")
    assert done.returncode == 0, done.stderr
    rows = {row["time"]: row["error"] for row in json.loads(done.stdout)["rows"]}
    assert rows["copy_in"] > 1
    assert rows["kernels_event"] == pytest.approx(0, abs=1e-3)
    human = cli("validate", "programs", str(table), *options, "-o", "out")
    assert "Totals in ms" in human.stdout
    assert (tmp_path / "out" / "programs.png").is_file()


def without(*columns: str) -> Callable[[list[Row]], list[Row]]:
    return lambda rows: [{name: value for name, value in row.items() if name not in columns} for row in rows]


def changed(column: str, value: str) -> Callable[[list[Row]], list[Row]]:
    return lambda rows: [*rows[:2], {**rows[2], column: value}]


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (without("scale"), [], "t.csv:1: column `scale`: missing"),
        (without(*times.JUDGED), [], "t.csv:1: expected one of the columns total, kernels_event, kernels_run"),
        (changed("kind", "manged"), [], "t.csv:4: unknown kind of memory `manged` hint: did you mean `managed`?"),
        (changed("total", "fast"), [], "t.csv:4: `total`: expected a number above 0, found `fast`"),
        (changed("free", "-1"), [], "t.csv:4: `free`: expected a number from 0 on, found `-1`"),
        (changed("scale", "0"), [], "t.csv:4: `scale`: expected a number above 0, found `0`"),
        (lambda rows: [{**rows[0], "program": "hashjoin"}], [], "Octavo has a workload of none of these programs"),
        (lambda rows: rows, ["--only", "vectorad"], "`vectorad` was not measured"),
        (lambda rows: rows, ["--records", "."], "holds no records such as vectoradd-1-managed-1.activity.bin"),
        (lambda rows: rows, ["--node", "h300.toml"], "h300.toml"),
    ],
)
def test_what_cannot_be_compared_is_said(cli, simulated, tmp_path, change, options, message):
    rows = rows_of("vectoradd", "managed", simulated["vectoradd", "managed"])
    write(tmp_path / "t.csv", change(rows))
    done = cli("validate", "programs", "t.csv", "--node", NODE, *options)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_table_of_a_profiler_has_kernels_alone(cli, simulated, tmp_path):
    kept = {"program", "scale", "kind", "repetition", "kernels_run"}
    rows = [row for kind in ("device", "managed") for row in rows_of("vectoradd", kind, simulated["vectoradd", kind])]
    table = write(tmp_path / "t.csv", without(*set(rows[0]) - kept)(rows))
    done = cli("validate", "programs", str(table), "--node", NODE, "-o", "out", "--csv", "sheet.csv", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {row["time"] for row in found["rows"]} == {"kernels_run"}
    assert [row["worst"] for row in found["errors"]["kernels_run"]] == pytest.approx([0, 0], abs=1e-3)
    assert "kernels_run_measured_ms" in (tmp_path / "sheet.csv").read_text()
    assert (tmp_path / "out" / "programs.png").is_file()


def test_a_file_without_rows_or_with_short_ones_is_refused(tmp_path):
    head = ",".join(["program", "scale", "kind", "repetition", *times.TIMES])
    path = tmp_path / "t.csv"
    path.write_text(f"{head}\n")
    with refused("missing", octavo.ValidationError, file="t.csv"):
        times.read(path)
    path.write_text(f"{head}\nvectoradd,1\n")
    with refused("unexpected-value", octavo.ValidationError, file="t.csv"):
        times.read(path)


def test_quartiles_lie_between_repetitions():
    assert Spread.of([3.0]) == Spread(3.0, 3.0, 3.0)
    assert Spread.of([5.0, 1.0, 2.0, 4.0, 3.0]) == Spread(2.0, 3.0, 4.0)


@pytest.mark.parametrize("machine", ["h200", "h100"])
def test_what_was_measured_is_read_packed(machine: str) -> None:
    found = times.read(ROOT / "validation" / "gpu" / "measured" / f"{machine}-programs.csv.xz")
    assert len(found) == len({one.key for one in found}) == 56
    assert {one.kind for one in found} == set(KINDS)


@pytest.mark.parametrize("gpu", ["H100", "H200"])
@pytest.mark.parametrize(("what", "column"), [("total time", "total"), ("kernels alone", "kernels_event")])
def test_the_overview_says_what_the_rows_say(gpu: str, what: str, column: str) -> None:
    rows = pl.read_csv(ROOT / "validation" / "gpu" / f"octavo-{gpu.lower()}.csv")
    simulated, measured = (pl.col(f"{column}_{which}_ms") for which in ("simulated", "measured"))
    errors = rows.group_by("kind").agg((simulated / measured - 1).abs().median().alias("error"))
    medians = dict(errors.iter_rows())
    lines = (ROOT / "docs" / "validation.md").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(f"| {what}, {gpu} |"))
    assert [cell.strip() for cell in line.split("|")[2:-1]] == [f"{medians[kind] * 100:.0f} %" for kind in KINDS]
