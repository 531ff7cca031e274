"""The same programs under UVMSmart's replayed rules and under Octavo, one configuration for all, nothing fitted."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from octavo.runs.execute import attempt
from octavo_studies.validate.uvmsmart.cases import Case, cases
from octavo_studies.validate.uvmsmart.programs import OVERSUBSCRIPTIONS
from octavo_studies.validate.uvmsmart.replay import Counts, Replay, StuckError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from octavo.runs.execute import Progress
    from octavo.runs.result import RunResult

COUNTS = ("faults", "migrated", "evicted", "thrashed")
"""The compared counts; all but the first are in pages."""
NEAR = 0.05
"""How far off a count may be to be near, as a share."""


@dataclass(frozen=True)
class Row:
    """One program under one policy, with a memory of this many pages; None where no page can leave."""

    program: str
    policy: str
    oversubscription: int
    capacity: int
    rules: Counts | None
    octavo: Counts | None

    def error(self, count: str) -> float | None:
        """Error of Octavo's count relative to the rules' count; None where one has none."""
        if self.rules is None or self.octavo is None:
            return None
        return _error(getattr(self.octavo, count), getattr(self.rules, count))


def _error(ours: int, theirs: int) -> float:
    if theirs == 0:
        return 0.0 if ours == 0 else float("inf")
    return ours / theirs - 1


@dataclass(frozen=True)
class UvmsmartValidation:
    """All rows, and what they say together."""

    rows: list[Row]

    def within(self, count: str, share: float = NEAR) -> tuple[int, int]:
        """Rows in which a count is within a share of the rules' count, and all rows that both finish."""
        errors = [error for row in self.rows if (error := row.error(count)) is not None]
        return sum(abs(error) <= share for error in errors), len(errors)

    def median_error(self, count: str) -> float | None:
        """The median size of a count's error; None if no row has both, or most of these have none under the rules."""
        errors = [abs(error) for row in self.rows if (error := row.error(count)) is not None]
        found = median(errors) if errors else math.inf
        return found if math.isfinite(found) else None

    def stuck(self) -> tuple[int, int]:
        """Rows in which both are stuck, and in which one alone is."""
        both = sum(row.rules is None and row.octavo is None for row in self.rows)
        one = sum((row.rules is None) != (row.octavo is None) for row in self.rows)
        return both, one

    def order(self) -> tuple[int, int]:
        """Pairs of policies of one program and memory that are in the same order by faults, and all that differ.

        UVMSmart adds a fixed time for each fault to the kernels' time, so that faults order its policies.
        """
        same = pairs = 0
        for one, other in combinations(self.rows, 2):
            if (one.program, one.oversubscription) != (other.program, other.oversubscription):
                continue
            if one.rules is None or other.rules is None or one.octavo is None or other.octavo is None:
                continue
            theirs = one.rules.faults - other.rules.faults
            if theirs != 0:
                pairs += 1
                same += (one.octavo.faults - other.octavo.faults) * theirs > 0
        return same, pairs

    def to_dict(self) -> dict[str, Any]:
        """Rows and summary, for JSON."""
        same, pairs = self.order()
        both, one = self.stuck()
        counts = {
            name: {
                "median_error": self.median_error(name),
                "within_5": self.within(name),
                "same": self.within(name, 0),
            }
            for name in COUNTS
        }
        order = {"same": same, "pairs": pairs}
        summary = {"counts": counts, "order": order, "stuck": {"both": both, "one": one}}
        return {"summary": summary, "rows": [asdict(row) for row in self.rows]}


def compare(
    *,
    only: Sequence[str] | None = None,
    oversubscriptions: Sequence[int] = OVERSUBSCRIPTIONS,
    root: Path | None = None,
    workers: int | None = None,
    force: bool = False,
    watch: Callable[[Progress], None] | None = None,
) -> UvmsmartValidation:
    """Replays UVMSmart's rules beside Octavo without time.

    Args:
        only: programs by name; all if left out.
        oversubscriptions: footprints, in percent of the memory.
        root: folder of Octavo's runs; those finished there are not run again. A temporary one if left out.
        workers: runs side by side; as many as there are cores if left out. Results do not depend on it.
        force: replace finished runs.
        watch: called about ten times a second with the progress of the runs.

    Raises:
        ValidationError: a program that is not there, or a footprint that leaves no memory.
        OctavoError: a run fails, or the folder cannot be written.

    """
    asked = cases(only, oversubscriptions)
    if root is not None:
        return beside(asked, root, workers=workers, force=force, watch=watch)
    with TemporaryDirectory(prefix="octavo-uvmsmart-") as folder:
        return beside(asked, Path(folder), workers=workers, watch=watch)


def beside(
    asked: Sequence[Case],
    root: Path,
    *,
    workers: int | None = None,
    force: bool = False,
    watch: Callable[[Progress], None] | None = None,
) -> UvmsmartValidation:
    """The rules' and Octavo's counts of these cases; as `compare`."""
    points = [case.point(root) for case in asked]
    runs = attempt(points, may_fill=True, workers=workers, force=force, watch=watch)
    return UvmsmartValidation([_row(case, run) for case, run in zip(asked, runs, strict=True)])


def _row(case: Case, run: RunResult | None) -> Row:
    octavo = None if run is None else _counted(run)
    return Row(case.program.name, case.policy.name, case.oversubscription, case.capacity, replayed(case), octavo)


def replayed(case: Case, rules: type[Replay] = Replay) -> Counts | None:
    """What the rules count; nothing where no page can leave."""
    replay = rules(
        case.accessed.allocations,
        capacity=case.capacity,
        prefetch=case.policy.prefetch,
        eviction=case.policy.eviction,
        when_full=case.policy.when_full,
        reserve=case.reserve,
    )
    accessed, launch = case.accessed, 0
    columns = (accessed.pages, accessed.times, accessed.stores, accessed.launches)
    try:
        for page, times, store, now in zip(*(column.tolist() for column in columns), strict=True):
            if now != launch:
                launch = now
                if launch in case.program.waits:
                    replay.synchronise()
            replay.access(page, times, store=store != 0)
    except StuckError:
        return None
    return replay.counts


def _counted(run: RunResult) -> Counts:
    manager = run.summary["manager"]
    migrated = manager["migrations"] + manager["prefetched"]
    return Counts(
        faults=manager["far_faults"],
        migrated=migrated,
        evicted=manager["evictions_written"] + manager["evictions_dropped"],
        thrashed=manager.get("thrashed", 0),
    )
