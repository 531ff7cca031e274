"""The Perfetto trace of a run says what its tables say, asked in SQL."""

from __future__ import annotations

import os
import shutil

import pftrace
import polars as pl
import pytest
from conftest import SMALL, contents
from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig

import octavo
from octavo.scenarios import catalogue

CHAIN = """
select f.name, s.name, p.name, c.name, w.name
from slice f
join flow a on a.slice_out = f.id join slice s on s.id = a.slice_in
join flow b on b.slice_out = s.id join slice p on p.id = b.slice_in
join flow c_ on c_.slice_out = p.id join slice c on c.id = c_.slice_in
join flow d on d.slice_out = c.id join slice w on w.id = d.slice_in
where f.name like '% fault' and w.name = 'wake' and w.ts >= c.ts + c.dur and c.ts >= s.ts + s.dur
"""
"""From a fault to its service, the plan, the copy and the wake."""


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    root = tmp_path_factory.mktemp("traced")
    result = octavo.run(
        workload="matrixmultiplication",
        placement="grit",
        node="grit-2gpu",
        scale=SMALL,
        output=root / "r",
        perfetto=root / "t.pftrace",
    )
    return result, pftrace.tables(root / "t.pftrace"), root


def count(database, query):
    return database.execute(query).fetchone()[0]


def test_tracing_changes_no_result(traced, tmp_path):
    result, _, _ = traced
    octavo.run(result.scenario, output=tmp_path / "plain")
    assert contents(tmp_path / "plain") == contents(result.folder)


def test_the_same_run_gives_the_same_trace(traced, tmp_path):
    result, _, root = traced
    octavo.run(result.scenario, output=tmp_path / "again", perfetto=tmp_path / "t.pftrace")
    assert (tmp_path / "t.pftrace").read_bytes() == (root / "t.pftrace").read_bytes()


def test_tracks_are_the_gpus_the_driver_and_the_links(traced):
    _, database, _ = traced
    roots = [name for (name,) in database.execute("select name from track where parent_id is null order by id")]
    assert roots == ["kernels", "driver", "gpu0", "gpu1", "links"]
    below = "select count(*) from track t join track p on t.parent_id = p.id where p.name = '{}' and t.name = '{}'"
    places = [("driver", "service"), ("driver", "plans"), ("gpu1", "faults"), ("links", "copies host->gpu0")]
    for parent, name in places:
        assert count(database, below.format(parent, name)) >= 1, name


def test_there_is_a_slice_for_every_fault_copy_and_kernel(traced):
    result, database, _ = traced
    summary = result.summary
    assert count(database, "select count(*) from slice where name like '% fault'") == summary["accesses"]["faults"]
    events = result.table("events")
    copies = """
        select count(*), sum(a.value) from slice s join track t on s.track_id = t.id join args a on a.slice_id = s.id
        where t.name like 'copies %' and a.key = 'pages' and s.name = ?
    """
    for kind in ("migration", "duplication", "write_collapse"):
        rows = events.filter(pl.col("kind") == kind)
        found = database.execute(copies, (kind.replace("_", " "),)).fetchone()
        assert found == (rows.height, rows["pages"].sum() if rows.height else None), kind
    assert events.filter(pl.col("kind") == "migration").height > 100
    kernels = result.table("kernels")
    spans = "select s.name, s.ts, s.ts + s.dur from slice s join track t on s.track_id = t.id where t.name = 'kernels'"
    expected = [(row["kernel"], row["began_ps"] // 1000, row["ended_ps"] // 1000) for row in kernels.to_dicts()]
    assert database.execute(spans).fetchall() == expected


def test_picoseconds_are_kept(traced):
    result, database, _ = traced
    exact = """
        select count(*) from slice s join args b on b.slice_id = s.id and b.key = 'began_ps'
        join args e on e.slice_id = s.id and e.key = 'ended_ps'
        where b.value / 1000 = s.ts and e.value / 1000 = s.ts + s.dur
    """
    assert count(database, exact) == count(database, "select count(*) from slice")
    latest = count(database, "select max(value) from args where key = 'ended_ps'")
    assert latest == result.summary["time_ps"]


def test_slices_of_a_plan_lie_within_it(traced):
    _, database, _ = traced
    inside = """
        select count(*) from slice s join track t on s.track_id = t.id
        where t.name = 'plans' and s.depth = 1
        and not exists (select 1 from slice p where p.track_id = s.track_id and p.depth = 0
                        and p.ts <= s.ts and s.ts + s.dur <= p.ts + p.dur)
    """
    assert count(database, inside) == 0
    steps = "select count(*) from slice s join track t on s.track_id = t.id where t.name = 'plans' and s.name = '{}'"
    for name in ("drain", "invalidate", "copy", "map"):
        assert count(database, steps.format(name)) > 0, name


def test_arrows_lead_from_the_fault_to_its_wake(traced):
    _, database, _ = traced
    chains = database.execute(CHAIN).fetchall()
    assert len(chains) > 100
    assert {service for _, service, _, _, _ in chains} == {"service"}
    wakes = "select count(*) from slice where name = 'wake'"
    ends = "select count(*) from flow f join slice s on s.id = f.slice_in where s.name = 'wake'"
    assert count(database, ends) == count(database, wakes)


def test_counters_hold_memory_and_bandwidth(traced):
    result, database, _ = traced
    memory = "select max(c.value) from counter c join track t on c.track_id = t.id where t.name = 'memory in use'"
    assert 0 < count(database, memory) <= result.summary["footprint_bytes"]
    rates = """
        select t.name, c.ts, c.value from counter c join track t on c.track_id = t.id
        where t.name = 'host->gpu0' order by c.ts
    """
    rows = database.execute(rates).fetchall()
    ends = [ts for _, ts, _ in rows[1:]] + [result.summary["time_ps"] // 1000]
    carried = sum(value * (end - begin) for (_, begin, value), end in zip(rows, ends, strict=True))
    links = result.table("links").filter(pl.col("link") == "host->gpu0").drop("link", "busy_ps")
    assert carried == pytest.approx(links.sum_horizontal()[0], rel=1e-3)  # GB/s × ns = bytes


@pytest.mark.parametrize("placement", catalogue.names("placements"))
def test_every_placement_leaves_slices_that_nest(placement, tmp_path):
    overrides = {"memory.prefetch": "tree", "node.capacity.footprint_percent": 60}
    result = octavo.run(
        workload="matrixmultiplication",
        placement=placement,
        scale=SMALL,
        overrides=overrides,
        perfetto=tmp_path / "t.pftrace",
    )
    database = pftrace.tables(tmp_path / "t.pftrace")
    faults = result.summary["accesses"]["faults"]
    assert count(database, "select count(*) from slice where name like '% fault'") == faults


def test_batches_are_slices_too(tmp_path):
    octavo.run(
        workload="fir",
        node="grit-2gpu",
        scale=SMALL,
        overrides={"node.driver.preset": "hardware"},
        output=tmp_path / "r",
        perfetto=tmp_path / "t.pftrace",
    )
    database = pftrace.tables(tmp_path / "t.pftrace")
    requests = """
        select count(*), sum(a.value) from slice s join args a on a.slice_id = s.id
        where s.name = 'batch' and a.key = 'requests'
    """
    batches, served = database.execute(requests).fetchone()
    assert 0 < batches < served
    assert count(database, "select count(*) from flow f join slice s on s.id = f.slice_in where s.name = 'service'") > 0


def test_the_trace_processor_reads_it_the_same_way(traced):
    """Needs the trace processor's binary, which no package registry carries: on the path, or downloadable."""
    shell = os.environ.get("TRACE_PROCESSOR") or shutil.which("trace_processor_shell")
    if shell is None:
        pytest.skip("no trace_processor_shell: set TRACE_PROCESSOR to it (get.perfetto.dev/trace_processor)")

    _, database, root = traced
    with TraceProcessor(trace=str(root / "t.pftrace"), config=TraceProcessorConfig(bin_path=shell)) as processor:
        for query in (
            "select count(*) as found from slice",
            "select count(*) as found from flow",
            "select count(*) as found from counter",
            "select sum(dur) as found from slice",
            CHAIN.replace("f.name, s.name, p.name, c.name, w.name", "count(*) as found"),
        ):
            assert next(iter(processor.query(query))).found == count(database, query), query
        assert next(iter(processor.query("select sum(value) as lost from stats where severity = 'error'"))).lost == 0


def test_a_trace_appears_whole_or_not_at_all(cli, tmp_path):
    done = cli("run", "-w", "fir", "--scale", "0.015625", "--perfetto", "t.pftrace", "-o", "r")
    assert done.returncode == 0, done.stderr
    assert "t.pftrace" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r", "t.pftrace"]
    kept = (tmp_path / "t.pftrace").read_bytes()
    done = cli("run", "-w", "fir", "--scale", "0.015625", "--perfetto", "t.pftrace", "-o", "r")  # finished before
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "t.pftrace").read_bytes() == kept
    failing = ["--set", 'node.capacity={footprint_percent=1,scope="total"}', "-o", "r2"]
    assert cli("run", "-w", "fir", "--scale", "0.015625", "--perfetto", "t.pftrace", *failing).returncode == 2
    assert (tmp_path / "t.pftrace").read_bytes() == kept
    done = cli("run", "-w", "fir", "--scale", "0.015625", "--perfetto", "r")
    assert done.returncode == 2
    assert "cannot write r: it is a folder" in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")  # noqa: PTH110
def test_a_full_disk_is_said():
    with pytest.raises(octavo._core.SimulationError) as raised:
        octavo._core.run(octavo.scenario(workload="fir", scale=SMALL).toml, None, "/dev/full")
    assert raised.value.args[1]["code"] == "unwritable"
