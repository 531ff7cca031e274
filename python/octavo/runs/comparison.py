"""Comparisons: measures of several variants, relative to one of them."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo import extras, html
from octavo.errors import ScenarioError
from octavo.files import disk, folder_locks, parquet
from octavo.runs import gantt, measures, pictures, sharing
from octavo.runs.baseline import check as check_baseline
from octavo.runs.bounds import bounds, marked
from octavo.runs.pictures import sheet
from octavo.runs.pictures.requests import USUAL, Asked, save
from octavo.runs.replicates import names, tied
from octavo.runs.speedups import with_speedup, with_speedup_intervals
from octavo.scenarios.about import briefs
from octavo.scenarios.scenario import LAUNCHES
from octavo.verbs import Verb

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from octavo.runs.experiment import Experiment, Outcome
    from octavo.runs.result import RunResult

REPORT_FILE = "report.json"
POINTS_FILE = "points.parquet"
JOBS_FILE = "jobs.parquet"
SAVED = (REPORT_FILE, POINTS_FILE)
"""What `save_report` writes."""
_PICTURES = ("speedup", "breakdown")
"""Pictures of every comparison with times."""
_JOBS, _PHASES = "jobs", "phases"
"""Pictures of jobs and of whole programs."""


@dataclass(frozen=True, repr=False)
class Comparison:
    """Variants side by side."""

    baseline: str
    """The variant that speed-ups are relative to."""
    points: pl.DataFrame
    """One row for each workload and variant: times in picoseconds, `speedup`, counts."""
    results: Mapping[tuple[str, str], RunResult]
    """Every single run, by workload and variant."""
    jobs: pl.DataFrame | None = None
    """One row for each workload, variant and job, if jobs ran alone, too: see `octavo.runs.sharing.slowdowns`."""
    replicates: Mapping[tuple[str, str], Sequence[RunResult]] = field(default_factory=dict)
    """All runs of each workload and variant, if there are several: times and speed-ups are then medians."""

    @classmethod
    def of(cls, outcome: Outcome, baseline: str | None = None) -> Comparison:
        """Compare the points of an experiment.

        Raises:
            ScenarioError: the baseline is none of the variants.

        """
        variants = outcome.points["variant"].unique(maintain_order=True).to_list()
        check_baseline(baseline, variants)
        chosen = baseline or variants[0]
        jobs = sharing.slowdowns(outcome.results, outcome.alone) if outcome.alone else None
        points = with_speedup_intervals(with_speedup(outcome.points, chosen), chosen)
        return cls(chosen, points, outcome.results, jobs, outcome.replicates)

    @property
    def workloads(self) -> list[str]:
        """The workloads, in order."""
        return self.points["workload"].unique(maintain_order=True).to_list()

    @property
    def variants(self) -> list[str]:
        """The variants, in order."""
        return self.points["variant"].unique(maintain_order=True).to_list()

    @property
    def has_time(self) -> bool:
        """Whether the runs have times, and so speed-ups."""
        return measures.has_time(self.points)

    def speedups(self) -> pl.DataFrame:
        """One row for each workload, one column for each variant, and a last row `geomean`; needs times."""
        table = self.points.pivot(on="variant", index="workload", values="speedup", maintain_order=True)
        means: dict[str, Any] = {"workload": "geomean", **self.geometric_means()}
        return pl.concat([table, pl.DataFrame([means], schema=table.schema)])

    def best(self, workload: str) -> list[str]:
        """The fastest variant, then those that are tied with it; needs times. Bounds are left out.

        Variants that ran once are tied only if their times are equal; with `replicates`, if their intervals overlap.
        """
        rows = self.points.filter(pl.col("workload") == workload).to_dicts()
        real = [row for row in rows if row["variant"] not in self.bounds] or rows
        return tied({row["variant"]: measures.times(row) for row in real})

    @property
    def bounds(self) -> set[str]:
        """The variants that no memory system can exceed: see `octavo.runs.bounds`."""
        return bounds(self.results)

    def marked(self, table: pl.DataFrame) -> pl.DataFrame:
        """A table in which variants that are bounds have a mark, in the column `variant` or in the names of columns."""
        found = self.bounds
        if "variant" in table.columns:
            return table.with_columns(pl.col("variant").replace({name: marked(name, found) for name in found}))
        return table.rename({name: marked(name, found) for name in found.intersection(table.columns)})

    def intervals(self) -> pl.DataFrame | None:
        """`workload`, `variant`, `low` and `high` of speed-ups, if there are replicates."""
        if "replicates" not in self.points.columns:
            return None
        return self.points.select("workload", "variant", low="speedup_low", high="speedup_high")

    def geometric_means(self) -> dict[str, float]:
        """Geometric mean of each variant's speed-ups over the workloads."""
        grouped = self.points.group_by("variant", maintain_order=True).agg("speedup")
        return {name: measures.geometric_mean(values) for name, values in grouped.iter_rows()}

    @property
    def sharing(self) -> pl.DataFrame | None:
        """One row for each workload and variant, if jobs ran alone, too: see `octavo.runs.sharing.sharing`."""
        return None if self.jobs is None else sharing.sharing(self.jobs)

    def to_pandas(self) -> pd.DataFrame:
        """The points as a pandas frame; needs pandas and pyarrow."""
        return self.points.to_pandas()

    def plot(self, what: str = "speedup", *, width: float = pictures.PAGE) -> pictures.Picture:
        """A picture of all runs.

        Args:
            what: `speedup`; `breakdown`, times by cause; `phases` of whole programs; `jobs` over time.
            width: in inches; `octavo.runs.pictures` has the widths of papers.

        Raises:
            ScenarioError: these runs have no such picture, or the width is out of range.

        """
        inches = sheet.checked_width("width", width)
        found = self.drawings()
        if what not in found:
            raise ScenarioError(
                f"no picture `{what}` of these runs, expected one of {', '.join(found) or 'none'}",
                code="unknown-name",
                found=what,
                expected=found,
            )
        return found[what](inches)

    def drawings(self) -> dict[str, Callable[[float], pictures.Picture]]:
        """What can be drawn, by name; each says below of which nodes it is."""
        return {name: self._below(draw) for name, draw in self._drawings().items()} if self.has_time else {}

    def _below(self, draw: Callable[[float], pictures.Picture]) -> Callable[[float], pictures.Picture]:
        def said() -> str:
            return briefs(result.scenario.values for result in self.results.values())

        def drawn(width: float) -> pictures.Picture:
            with pictures.below(said):
                return draw(width)

        return drawn

    def _drawings(self) -> dict[str, Callable[[float], pictures.Picture]]:
        table = self.marked(self.speedups() if len(self.workloads) > 1 else self.speedups().head(1))
        points = self.marked(self.points)
        title = f"Speed-up over {self.baseline}"
        found: dict[str, Callable[[float], pictures.Picture]] = {
            "speedup": lambda width: pictures.bars(
                None, table, xlabel="speed-up", title=title, line_at=1.0, width=width, intervals=self._whiskers()
            ),
            "breakdown": lambda width: pictures.breakdown(None, points, title="Run time by cause", width=width),
        }
        if any(result.scenario.jobs for result in self.results.values()):
            named = {" ".join(key): result for key, result in self.results.items()}
            found[_JOBS] = lambda width: gantt.jobs(None, named, width=width)
        if measures.has_phases(self.points):
            whole = "Time of whole programs by phase"
            found[_PHASES] = lambda width: pictures.phases(None, points, title=whole, width=width)
        return found

    def _whiskers(self) -> dict[tuple[str, str], tuple[float, float]]:
        found = self.intervals()
        return {} if found is None else {(row[0], row[1]): (row[2], row[3]) for row in self.marked(found).rows()}

    report = Verb()

    def __repr__(self) -> str:
        return f"Comparison({', '.join(self.workloads)}: {', '.join(self.variants)}; over {self.baseline})"

    def _repr_html_(self) -> str:
        shown = ("workload", "variant", "time_ps", "speedup", "faults", "migrations", "duplications", "collapses")
        times = self.has_time
        columns = [name for name in shown if times or name not in ("time_ps", "speedup")]
        points = self.marked(self.points).to_dicts()
        rows = [[_text(name, row[name]) for name in columns] for row in points]
        heads = ["time in ms" if name == "time_ps" else name for name in columns]
        if not self.replicates:
            return html.table(f"Baseline: {self.baseline}" if times else "Without time", heads, rows)
        after = columns.index("time_ps") + 1
        for row, point in zip(rows, points, strict=True):
            row.insert(after, measures.times(point).text)
        caption = f"Baseline: {self.baseline}; medians of {points[0]['replicates']} replicates"
        fastest = (f"{name}: fastest is {names(self.best(name))}." for name in self.workloads)
        medians = html.table(caption, [*heads[:after], "interval", *heads[after:]], rows)
        return medians + "".join(map(html.paragraph, fastest))

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON holds it."""
        return {
            **({"baseline": self.baseline, "geometric_mean_speedup": self.geometric_means()} if self.has_time else {}),
            "points": self.points.to_dicts(),
            **({"bounds": sorted(found)} if (found := self.bounds) else {}),
            **({"best": {name: self.best(name) for name in self.workloads}} if self.replicates else {}),
            **self._shared(),
        }

    def _shared(self) -> dict[str, Any]:
        if self.jobs is None:
            return {}
        return {"jobs": self.jobs.to_dicts(), "sharing": sharing.sharing(self.jobs).to_dicts()}


@contextmanager
def experiment_folder(
    root: Path, key: str, *, force: bool, draws: bool = False, writes: Collection[str] = ()
) -> Iterator[None]:
    """The folder of the experiment `key`, for this process alone: files that are written into it count as Octavo's.

    `draws`: the experiment needs pictures. `writes`: names of files that will be written at the end. Existing files of
    someone else's with these names are refused before anything runs; those with other names only when they would be
    written.

    Raises:
        ExtraError: it draws, and Matplotlib is not installed.
        OutputError: another process is at it, it cannot be written, it holds another experiment and `force` does not
            allow to replace it, or it holds a file of somebody else that would be in the way.

    """
    if draws:
        extras.need("matplotlib")
    with folder_locks.opened(root, folder_locks.Shared("experiment", key, writes), force=force):
        yield


def files_of(experiment: Experiment) -> tuple[str, ...]:
    """Names of the files that `save_comparison` writes for an experiment; pictures in every format."""
    if not experiment.has_time:
        return SAVED
    scenarios = experiment.scenarios.values()
    drawn = list(_PICTURES)
    if any(scenario.jobs for scenario in scenarios):
        drawn.append(_JOBS)
    if any(scenario.kind != LAUNCHES for scenario in scenarios):
        drawn.append(_PHASES)
    files = [f"{name}.{kind}" for name in drawn for kind in pictures.FORMATS]
    return (*SAVED, *([JOBS_FILE] if experiment.alone else []), *files)


def save_report(root: Path, key: str, points: pl.DataFrame, report: Mapping[str, Any]) -> None:
    """Write the points as Parquet, and the report, with the identity of its experiment, as JSON."""
    disk.write_bytes(root / POINTS_FILE, parquet.encoded(points))
    disk.write_json(root / REPORT_FILE, {"experiment": key, **report})


def save_comparison(root: Path, key: str, comparison: Comparison, wanted: Asked = USUAL) -> None:
    """Write the table and the pictures of a comparison; all pictures show times."""
    save_report(root, key, comparison.points, comparison.to_dict())
    if not comparison.has_time:
        return
    if extras.pictures():
        for name, draw in comparison.drawings().items():
            save(draw(wanted.width), root, name, wanted)
    if comparison.jobs is not None:
        disk.write_bytes(root / JOBS_FILE, parquet.encoded(comparison.jobs))


def _text(name: str, value: Any) -> str:
    if name == "time_ps":
        return f"{value / 1e9:.3f}"
    if name == "speedup":
        return f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
