"""Samples of perf mem and regions of DAMON: which memory is hot."""

from __future__ import annotations

import json
import random
import tracemalloc
import zlib
from itertools import pairwise
from pathlib import Path

import pytest
from conftest import refused

from octavo.errors import ProfileError
from octavo.measurements.imports import import_damon, import_perf_mem, perf_mem
from octavo.measurements.imports.heat import merged

HEAD = "# PID, TID, IP, ADDR, LOCAL WEIGHT, DSRC, SYMBOL"
LOAD, STORE = 2, 4
L1, RAM, CXL = 1 << 33, 0xD << 33, 0x9 << 33
OLD_L1, OLD_RAM = (1 << 3 | 2) << 5, (1 << 7 | 2) << 5
PAGE = 4096
A = 0x7F2A00000000


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def perf(*rows, head=HEAD, separator=","):
    """Rows of process, address, weight, source."""
    quirk = "0x016" if separator == " " else "0x"
    text = [
        separator.join(
            [f"{pid}", f"{pid}", "0x401000", f"{quirk}{address:x}", f"{weight}", f"0x{source:x}", "a.out:main"]
        )
        for pid, address, weight, source in rows
    ]
    Path("m.txt").write_text("\n".join([head, *text]) + "\n")
    return import_perf_mem("m.txt", "out", force=True)


ROWS = [(7, A, 30, LOAD | L1), (7, A + 64, 400, LOAD | RAM), (7, A + PAGE, 900, STORE | CXL), (8, A, 5, LOAD | OLD_L1)]


@pytest.mark.parametrize("separator", [",", " "])
def test_samples_of_perf_are_counted_by_page(separator):
    found = perf(*ROWS, separator=separator)
    assert found.table("heat").rows() == [
        (7, A, PAGE, 2.0, 2, 0, 1, 0, 215.0),
        (7, A + PAGE, PAGE, 1.0, 0, 1, 1, 1, 900.0),
        (8, A, PAGE, 1.0, 1, 0, 0, 0, 5.0),
    ]
    assert found.summary["hot_bytes"] == {"50": PAGE, "90": 10650, "99": 12125}
    assert found.summary["assumed"]


def test_text_of_perf_script_tells_the_same():
    names = {LOAD: "LOAD", STORE: "STORE"}
    lines = [
        f"  a.out  {pid}/{pid}  {address:16x} {source:16x} |OP {names[source & 6]}|LVL L1 hit|SNP None|TLB L1 or L2 hit"
        f"|LCK No|BLK  N/A                {weight}"
        for pid, address, weight, source in ROWS
    ]
    Path("s.txt").write_text("\n".join(lines) + "\n")
    assert import_perf_mem("s.txt", "script").table("heat").rows() == perf(*ROWS).table("heat").rows()
    Path("s.txt").write_text("\n".join(line.rsplit(" ", 1)[0] for line in lines) + "\n")
    assert import_perf_mem("s.txt", "light").table("heat")["mean_weight"].null_count() == 3
    Path("s.txt").write_text(f"{lines[0]}   401a00 main\n")
    with refused("unexpected-value", ProfileError):
        import_perf_mem("s.txt", "further")


def test_a_miss_does_not_say_what_served_it():
    line = "1 7f0000001000 {:x} |OP STORE|LVL L1 miss|SNP N/A|TLB N/A|LCK N/A|BLK  N/A 5"
    miss = (1 << 2 | 1 << 3) << 5 | STORE
    for source, served in ((miss, None), (miss | 3 << 33, None), (miss | 1 << 12, 1)):
        Path("s.txt").write_text(f" {line.format(source)}\n")
        found = import_perf_mem("s.txt", "out", force=True)
        assert found.table("heat")["memory_samples"].to_list() == [served]
        assert bool(found.summary["notes"]) == (served is None)


def test_symbols_of_perf_may_have_commas_and_blanks():
    row = "  {0}{1}  {0}{1}0x401000{1}0x0167f2a00000000{1}   30{1}0x200000002{1}a.out:std::map<int, long>::find"
    Path("m.txt").write_text(f"{HEAD}\n{row.format(7, ' ')}\n")
    assert import_perf_mem("m.txt", "blanks").table("heat").rows() == [(7, A, PAGE, 1.0, 1, 0, 0, 0, 30.0)]
    Path("m.txt").write_text(f"{HEAD}\n{row.format(7, ',').replace('0x016', '0x')}\n")
    assert import_perf_mem("m.txt", "commas").table("heat").rows() == [(7, A, PAGE, 1.0, 1, 0, 0, 0, 30.0)]


def test_as_many_pages_as_are_taken_fit_into_memory():
    pages, found = 4096, perf_mem._Found()
    tracemalloc.start()
    for page in range(1, pages + 1):
        found.add(7, A + page * PAGE, LOAD | RAM, 300)
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert used / pages * perf_mem._MOST_PAGES < 1 << 30


def test_one_fact_of_perf_changed_changes_the_profile():
    def told(result):
        return result.table("heat").rows(), result.summary["notes"], result.summary["missing"]

    chance = random.Random(5)  # noqa: S311 - no secrets
    before = told(perf(*ROWS))
    for _ in range(24):
        rows = [list(row) for row in ROWS]
        place, column = chance.randrange(len(rows)), chance.randrange(4)
        rows[place][column] = [9, A + 5 * PAGE, 77, STORE | OLD_RAM][column]
        assert told(perf(*rows)) != before, (place, column)
    assert told(perf(*ROWS, (7, 0, 1, LOAD)))[1] != before[1]
    assert told(perf(*ROWS, (7, A, 1, L1)))[1] != before[1]
    assert told(perf((7, A, 1, LOAD)))[2] != before[2]
    further = "# PID, TID, IP, ADDR, PHYS ADDR, LOCAL WEIGHT, DSRC, SYMBOL"
    with refused("unexpected-value", ProfileError, expected=8, found=7):
        perf(*ROWS, head=further)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "missing"),
        (f"{HEAD}\n", "missing"),
        (f"{HEAD}\n7,7,0x1,zz,1,0x2,x:y\n", "unexpected-value"),
        (f"{HEAD}\n7 7 0x1 0x7f2a 1 0x2 x:y\n", "unexpected-value"),
        (f"{HEAD}\n7,7,0x1,0x10000000000000000,1,0x2,x:y\n", "unexpected-value"),
        ("# PID, TID, IP, ADDR, DSRC, SYMBOL\n", "unexpected-value"),
        ("0x1,0x2\n", "unexpected-value"),
        (f"{HEAD}\n7,7,0x1,0x{'f' * 4000},1,0x2,x:y\n", "unexpected-value"),
        (f" 7  {'f' * 4000}  142 |OP LOAD|LVL N/A|BLK  N/A 5\n", "unexpected-value"),
    ],
)
def test_what_is_no_text_of_perf_is_refused(text, code):
    Path("m.txt").write_text(text)
    with refused(code, ProfileError):
        import_perf_mem("m.txt", "out")
    assert not Path("out").exists()


def region(start, end, samples, **more):
    return {"start": str(start), "end": f"{end:,}", "nr_accesses": {"samples": samples, "percent": None}, **more}


def record(*snapshots, **more):
    return {
        "kdamond_idx": 0,
        "context_idx": 0,
        "intervals": None,
        "scheme_idx": None,
        "target_id": 3,
        "scheme_filters": [],
        "snapshots": [
            {"start_time": str(100 * number), "end_time": str(100 * (number + 1)), "regions": regions}
            for number, regions in enumerate(snapshots)
        ],
        **more,
    }


RECORD = record([region(0, 100, 10), region(500, 600, 0)], [region(50, 100, 4), region(200, 400, 20)])
EXPECTED = [(0, 0, 50, 5.0), (0, 50, 50, 9.0), (0, 200, 200, 20.0), (0, 500, 100, 0.0)]


def regions(*records, packed=False):
    content = json.dumps(records, indent=4).encode()
    Path("damon.data").write_bytes(zlib.compress(content) if packed else content)
    return import_damon("damon.data", "out", force=True)


def heat(result):
    return result.table("heat").select("process", "address", "bytes", "samples").rows()


@pytest.mark.parametrize("packed", [False, True])
def test_regions_of_damon_become_ranges(packed, cli):
    found = regions(RECORD, packed=packed)
    # The first 100 bytes have 10 checks, half of them in each half.
    assert heat(found) == EXPECTED
    assert found.summary["samples"] == 34
    assert found.summary["time_ps"] == 100_000
    assert cli("import", "damon", "damon.data", "-o", "again").returncode == 0
    assert cli("report", "again", "-o", "r.html").returncode == 0


def test_targets_of_several_contexts_are_apart():
    for key in ("kdamond_idx", "context_idx"):
        found = regions(RECORD, {**RECORD, key: 1}, RECORD)
        assert heat(found) == [
            (number, *rest[:2], rest[2] * (2 - number)) for number in (0, 1) for _, *rest in EXPECTED
        ]
    lines = [
        f"kdamond.{thread}  4452 [000] 8.{time}: damon:damon_aggregated: target_id=0 nr_regions=2 "
        f"{start}-{start + 10}: 7"
        for time in (1, 2)
        for start in (100, 200)
        for thread in (0, 1)
    ]
    Path("damon.txt").write_text("\n".join(lines) + "\n")
    assert heat(import_damon("damon.txt", "text")) == [
        (process, start, 10, 14.0) for process in (0, 1) for start in (100, 200)
    ]


def test_memory_that_no_check_found_in_use_does_not_count(cli):
    found = regions(RECORD)
    assert found.summary["footprint_bytes"] == 300
    done = cli("import", "damon", "damon.data", "-o", "again", "--json")
    assert sum(row["bytes"] for row in json.loads(done.stdout)["hottest"]) == 300


def test_a_record_of_damon_too_large_for_memory_is_refused():
    with Path("damon.data").open("wb") as file:
        file.truncate(129 << 20)
    with refused("unreadable", ProfileError):
        import_damon("damon.data", "out")


def test_text_of_the_kernel_tells_the_same():
    lines = [
        f"kdamond.0  4452 [000] 82877.{100 * (number + 1):09}: damon:damon_aggregated: target_id=99 nr_regions=2 "
        f"{each['start']}-{int(each['end'].replace(',', ''))}: {each['nr_accesses']['samples']} 3"
        for number, snapshot in enumerate(RECORD["snapshots"])
        for each in snapshot["regions"]
    ]
    Path("damon.txt").write_text("\n".join(lines) + "\n")
    found = import_damon("damon.txt", "text")
    assert heat(found) == heat(regions(RECORD))
    assert found.summary["time_ps"] == 100_000
    Path("damon.txt").write_text("\n".join(lines[:-1]) + "\n")
    assert import_damon("damon.txt", "cut").summary["notes"]


def test_one_fact_of_damon_changed_changes_the_profile():
    before = heat(regions(RECORD))
    for number in range(2):
        for index in range(2):
            for key, value in {"start": "20", "end": "590", "nr_accesses": {"samples": 7}}.items():
                changed = json.loads(json.dumps(RECORD))
                changed["snapshots"][number]["regions"][index][key] = value
                try:
                    assert heat(regions(changed)) != before, (number, index, key)
                except ProfileError as error:
                    assert error.code == "unexpected-value"  # noqa: PT017 - refused or another result
    assert heat(regions(RECORD, {**RECORD, "target_id": 4})) != before
    assert regions(RECORD, record([], scheme_idx=0)).summary["notes"]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("[]", "missing"),
        ("{}", "missing"),
        ("[1]", "unexpected-value"),
        (json.dumps([record([region(5, 5, 1)])]), "unexpected-value"),
        (json.dumps([record([region(0, 9, 1), region(5, 10, 1)])]), "unexpected-value"),
        (json.dumps([record([{**region(0, 9, 1), "nr_accesses": {"percent": 5}}])]), "unexpected-value"),
        (json.dumps([record([region(0, 9, "many")])]), "unexpected-value"),
        ("x: damon:damon_aggregated: target_id=1", "unexpected-value"),
        ("x\x9c damaged", "damaged"),
        ("region 4 KiB-8 KiB: nr_accesses: 20 %", "missing"),
    ],
)
def test_what_is_no_record_of_damon_is_refused(content, code):
    Path("damon.data").write_bytes(content.encode("latin-1"))
    with refused(code, ProfileError):
        import_damon("damon.data", "out")


def test_ranges_have_all_samples():
    chance = random.Random(3)  # noqa: S311 - no secrets
    for _ in range(50):
        given = []
        for _ in range(chance.randint(1, 12)):
            start = chance.randrange(1000)
            given.append((start, start + chance.randint(1, 500), float(chance.randrange(20))))
        found = merged(given)
        assert sum(samples for *_, samples in found) == pytest.approx(sum(samples for *_, samples in given), abs=1e-4)
        assert all(before[1] <= after[0] for before, after in pairwise(found))
