"""UVMSmart's rules replayed, by hand and beside Octavo."""

import json

import polars as pl
import pytest
from conftest import refused

import octavo
from octavo.runs.execute import attempt
from octavo_studies.validate.uvmsmart import AsOctavo, Replay, Row, StuckError, UvmsmartValidation, picture, words
from octavo_studies.validate.uvmsmart.cases import cases
from octavo_studies.validate.uvmsmart.programs import POLICIES, PROGRAMS
from octavo_studies.validate.uvmsmart.replay import Counts
from octavo_studies.validate.uvmsmart.study import COUNTS, compare, replayed
from octavo_studies.validate.uvmsmart.trees import roots


def replay(prefetch: str, eviction: str, capacity: int | None = None, blocks: int = 2, **more: str | int) -> Replay:
    return Replay([(0, blocks * 512)], capacity=capacity, prefetch=prefetch, eviction=eviction, **more)


def steps(one: Replay, pages: list[int], count: str) -> list[int]:
    found = []
    for page in pages:
        before = getattr(one.counts, count)
        one.access(page)
        found.append((getattr(one.counts, count) - before) * 4)
    return [kib for kib in found if kib]


def test_trees_are_of_2_mib_and_the_rest_of_64_kib_times_a_power_of_two() -> None:
    assert roots(0, 1027) == [(0, 512), (512, 512), (1024, 16)]
    assert roots(512, 49) == [(512, 64)]
    assert roots(0, 1) == [(0, 16)]


def test_faults_in_order_fill_a_tree_and_empty_another() -> None:
    doubling = [64, 64, 128, 256, 512, 1024]
    assert steps(replay("tree-neighborhood", "lru-page"), list(range(512)), "migrated") == doubling
    one = replay("sequential-local", "tree-neighborhood", 512)
    leaves = [leaf * 16 for leaf in range(32)]
    steps(one, leaves, "migrated")
    assert steps(one, [512 + page for page in leaves], "evicted") == doubling


def test_an_access_keeps_what_came_first() -> None:
    one = replay("none", "lru-page", 2)
    for page in (0, 1, 0, 2, 0):
        one.access(page)
    assert one.counts == Counts(faults=3, migrated=3, evicted=1)
    one.access(1)
    assert one.counts == Counts(faults=4, migrated=4, evicted=2, thrashed=1)


def test_the_block_accessed_least_often_leaves() -> None:
    one = replay("tree-neighborhood", "lfu-block", 1024, blocks=3)
    for page in range(1024):
        one.access(page, times=3 if page < 512 else 1)
    one.access(1024)
    assert one.counts.evicted == 512
    faults = one.counts.faults
    one.access(0)
    assert one.counts.faults == faults


def test_the_other_prefetcher_begins_after_the_fault_that_did_not_fit() -> None:
    one = replay("sequential-local", "lru-page", 31, when_full="none")
    assert steps(one, [0, 16, 512, 544], "migrated") == [64, 64, 4, 4]


def test_pages_leave_while_some_are_still_free() -> None:
    one = replay("none", "lru-page", 8, reserve=3)
    assert steps(one, list(range(8)), "evicted") == [4, 4, 4]
    assert one.counts.migrated - one.counts.evicted == 5


def test_what_cannot_leave_lets_pages_into_the_reserve() -> None:
    one = replay("none", "lru-block", 6, reserve=3)
    assert steps(one, list(range(6)), "migrated") == [4] * 6
    with pytest.raises(StuckError):
        one.access(6)


def test_where_nothing_is_whole_nobody_leaves() -> None:
    one = replay("none", "lru-block", 4)
    with pytest.raises(StuckError):
        steps(one, [0, 1, 2, 3, 4], "faults")


def test_what_comes_at_once_has_to_fit() -> None:
    """Leaf 2 fills the first four, these eight, and these sixteen: ten more than there is room for."""
    one = replay("tree-neighborhood", "tree-neighborhood", 6 * 16, blocks=1)
    assert steps(one, [leaf * 16 for leaf in (0, 1, 4, 5, 8, 9)], "migrated") == [64] * 6
    with pytest.raises(StuckError):
        one.access(2 * 16)


def test_memory_is_never_too_full_and_pages_are_counted_once() -> None:
    for prefetch, eviction in [("none", "lru-page"), ("tree-neighborhood", "tree-neighborhood")]:
        one = replay(prefetch, eviction, 512)
        for number in range(2000):
            one.access(number * number * 7919 % 1021)
        left = one.counts.migrated - one.counts.evicted
        assert 0 < left <= 512
        assert one.counts.faults <= one.counts.migrated


@pytest.fixture(scope="module")
def found() -> UvmsmartValidation:
    return compare(only=["triad", "backprop", "nw"], oversubscriptions=[125])


def test_octavo_decides_as_the_rules_do(found: UvmsmartValidation) -> None:
    """Exactly on `triad`, whose allocations fill their trees."""
    triad = [row for row in found.rows if row.program == "triad"]
    assert all(row.rules is not None for row in triad)
    for row in triad:
        assert row.octavo is not None, row
        assert [row.error(count) for count in COUNTS] == [0, 0, 0, 0], row
    assert any(row.rules.thrashed > 0 for row in triad), "pages that come again are compared, too"


def test_octavo_decides_as_the_rules_do_beyond_the_ends_of_allocations(found: UvmsmartValidation) -> None:
    """`nw` and `backprop` have allocations that end within basic blocks; the host waits within `backprop`."""
    rows = [row for row in found.rows if row.program != "triad"]
    off = [row for row in rows if any(row.error(count) != 0 for count in COUNTS)]
    assert [(row.program, row.policy) for row in off] == [
        ("nw", "sequential-local / tree-neighborhood"),
        ("nw", "tree-neighborhood / tree-neighborhood, 10% free"),
        ("backprop", "tree-neighborhood / lfu-block"),
    ]
    for row in off:
        (case,) = (one for one in cases([row.program], [125]) if one.policy.name == row.policy)
        assert replayed(case, AsOctavo) == row.octavo, "its known differences are all there is to its errors"


def test_written_pages_go_home_and_come_again() -> None:
    one = replay("none", "lru-page", 8)
    for page in (0, 1, 2):
        one.access(page, store=page > 0)
    one.synchronise()
    for page in (0, 1, 1, 2):
        one.access(page)
    assert one.counts == Counts(faults=5, migrated=5), "they did not leave a full memory"
    one.synchronise()
    one.access(1)
    assert one.counts.faults == 5, "what was read alone stays"


def test_what_goes_home_leaves_its_tree() -> None:
    """Of the first four leaves three were there; after two have gone, the fourth alone fills nothing."""
    one = replay("tree-neighborhood", "tree-neighborhood")
    for leaf in (0, 1):
        one.access(leaf * 16)
    one.access(0, store=True)
    for page in range(16):
        one.access(page, store=True)
    one.synchronise()
    assert steps(one, [32], "migrated") == [64]


def test_the_host_waits_where_the_programs_host_does() -> None:
    """Octavo's launches are those that the replay synchronises before."""
    for program in PROGRAMS:
        if program.waits:
            side = octavo.run(
                workload=program.workload,
                executor="instant",
                overrides=[f"workload.{key}={value}" for key, value in SMALL[program.name].items()]
                + ['memory.synchronisation="dirty-home"', "record.events=true"],
            )
            assert side.summary["manager"]["synchronised"] > 0


SMALL = {"backprop": {"inputs": 1024}, "srad": {"rows": 128, "columns": 128, "iterations": 2}}


def test_orders_and_errors_are_counted() -> None:
    rules = [Counts(10, 100, 50), Counts(20, 200, 0), None]
    octavo = [Counts(20, 101, 50), Counts(10, 220, 1), None]
    rows = [Row("p", str(at), 110, 9, *both) for at, both in enumerate(zip(rules, octavo, strict=True))]
    both = UvmsmartValidation(rows)
    assert (both.order(), both.stuck()) == ((0, 1), (1, 0))
    assert both.within("migrated") == (1, 2)
    assert both.median_error("migrated") == pytest.approx(0.055)
    assert words.rows(both).rows[2][3:5] == ["stuck", ""]


def test_counts_that_the_rules_do_not_have_are_no_errors_in_percent() -> None:
    none, some = Counts(1, 1), Counts(1, 1, 5)
    both = UvmsmartValidation([Row("p", "none / lru-page", 110, 16, none, some)])
    assert both.median_error("evicted") is None
    json.dumps(both.to_dict(), allow_nan=False)
    assert words.summary(both).rows[2] == ["evicted", "1", "–", "0%", "0"]
    stuck = UvmsmartValidation([Row("p", "none / lru-block", 110, 16, None, None)])
    assert words.summary(stuck).rows[0] == ["faults", "0", "–", "–", "0"]


def test_no_two_policies_look_alike() -> None:
    names = [policy.name for policy in POLICIES]
    some = Counts(10, 20, 30, 40)
    figure = picture.counts(None, UvmsmartValidation([Row("p", name, 110, 16, some, some) for name in names])).figure
    points = figure.axes[0].collections[1:]
    looks = {(*points.get_facecolor()[0], points.get_paths()[0].vertices.shape) for points in points}
    assert [points.get_label() for points in points] == names
    assert len(looks) == len(names)


def test_a_picture_shows_any_number_of_policies() -> None:
    some, names = Counts(10, 20, 30, 40), [f"policy {number}" for number in range(60)]
    figure = picture.counts(None, UvmsmartValidation([Row("p", name, 110, 16, some, some) for name in names])).figure
    assert [points.get_label() for points in figure.axes[0].collections[1:]] == names


def test_a_picture_needs_no_counts_above_zero(tmp_path) -> None:
    none = Counts(1, 1)
    picture.counts(tmp_path / "counts.png", UvmsmartValidation([Row("p", "none / lru-page", 110, 16, none, none)]))
    picture.counts(tmp_path / "stuck.png", UvmsmartValidation([Row("p", "none / lru-block", 110, 16, None, None)]))
    assert all((tmp_path / f"{name}.png").is_file() for name in ("counts", "stuck"))


def test_the_command_prints_tables(cli, tmp_path) -> None:
    root = tmp_path / "kept"
    done = cli("validate", "uvmsmart", "--only", "triad", "--oversubscription", "110", "-o", str(root))
    assert "same order by faults" in done.stdout
    told = json.loads((root / "report.json").read_text())
    assert told["summary"]["counts"]["faults"]["within_5"][1] == len(told["rows"])
    assert pl.read_parquet(root / "points.parquet").height == len(told["rows"])
    assert (root / "counts.png").is_file()
    runs = sorted(path.name for path in (root / "runs" / "triad" / "110").iterdir())
    assert len(runs) == len(POLICIES)
    again = cli("validate", "uvmsmart", "--only", "triad,triad", "--oversubscription", "110,110", "-o", str(root))
    assert again.stdout == done.stdout, "what is named twice is there once, and what is finished is kept"
    assert "expected one of hotspot" in cli("validate", "uvmsmart", "--only", "triadd").stderr
    assert "expected 100 or more" in cli("validate", "uvmsmart", "--oversubscription", "90").stderr
    little = cli("validate", "uvmsmart", "--only", "triad", "--oversubscription", "9999999")
    assert little.returncode == 2
    assert "leaves `triad` no memory: expected at most" in little.stderr


def test_each_experiment_has_a_folder_of_its_own(cli, tmp_path) -> None:
    """Named after its programs and footprints, in any order."""
    asked = ("validate", "uvmsmart", "--only", "triad,atax", "--oversubscription", "150,120", "--memory-limit", "1KiB")
    refused = cli(*asked)
    assert refused.returncode == 2
    assert "the run would take about" in refused.stderr
    assert (
        "--memory-limit says otherwise" in refused.stderr
        or "the same command tries the failed ones again" in refused.stderr
    )
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["validate-uvmsmart-atax-triad-120%-150%"]


def test_a_run_without_room_is_no_failure_where_it_is_expected(tmp_path) -> None:
    """Blocks of 2 MiB that only leave whole: 16 pages never make one."""
    case = next(case for case in cases(["triad"], [9600]) if case.policy.name == "tree-neighborhood / lru-block")
    assert attempt([case.point(tmp_path)], may_fill=True) == [None]
    with refused("no-room", octavo.errors.OutOfMemoryError, key="memory.eviction"):
        attempt([case.point(tmp_path)])


class Listening(octavo.policies.EvictionPolicy):
    """Evicts what was accessed longest ago, from what it is told."""

    def start(self) -> None:
        self.last: dict[int, int] = {}
        self.now = 0

    def on_use(self, processor: int, page: int) -> None:
        self.on_access(processor, page, 1)

    def on_access(self, processor: int, page: int, times: int) -> None:
        self.now += 1
        self.last[page] = self.now

    def victims(self, processor: int, wanted: int) -> list[int]:
        there = [page for page in sorted(self.last, key=self.last.get) if self.residency.evictable(processor, page)]
        return there[:wanted]


def test_an_evictor_in_python_hears_of_accesses(tmp_path) -> None:
    """It does what `lru-page` does with `recency = "access"`, which differs from what services alone say."""
    fixed = {"executor": "instant", "workload": "nw", "placement": "on-touch", "node": "cuda-sm60"}
    size = ["workload.length=256", 'node.capacity={bytes = "0B", footprint_percent = 60}']
    builtin = {"name": "lru-page", "recency": "access"}
    counts = []
    for number, eviction in enumerate((Listening, builtin, "lru-page")):
        chosen = {"eviction": eviction} if not isinstance(eviction, dict) else {}
        extra = ['memory.eviction={name="lru-page", recency="access"}'] if isinstance(eviction, dict) else []
        result = octavo.run(**fixed, **chosen, overrides=[*size, *extra], output=tmp_path / str(number))
        counts.append((result.summary["manager"]["far_faults"], result.summary["manager"]["evictions_written"]))
    assert counts[0] == counts[1] != counts[2]
