"""Runs every program of the reference that there is a trace of, and puts both results side by side."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.errors import ValidationError
from octavo.files.links import inside
from octavo.runs import pictures
from octavo.runs.comparison import REPORT_FILE, experiment_folder
from octavo.runs.execute import Point, execute
from octavo.runs.experiment import RUNS
from octavo.scenarios.scenario import Recipe, digest, trace_name
from octavo_studies.engine import write
from octavo_studies.validate import launches, reference
from octavo_studies.validate.counts import COUNTS, code_explains, error
from octavo_studies.validate.rerun import own_points
from octavo_studies.validate.rerun import rerun as run_reference
from octavo_studies.validate.summary import Summary, summarise

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from octavo.runs.execute import Progress
    from octavo.runs.result import RunResult
    from octavo_studies.validate.reference import Row

NODES = {1: "r9nano", 4: "r9nano-4"}
"""Node preset by number of GPUs: one configuration for all programs."""
SETTINGS = ("record.events=false", "workload.instructions=recorded")
"""No table of events, and vector instructions and others in the order in which they were recorded."""
TABLE = "validation"
LAUNCHES = "launches"
PICTURE = "validation.png"
_FILES = (REPORT_FILE, PICTURE, *(f"{name}.{kind}" for name in (TABLE, LAUNCHES) for kind in ("parquet", "csv")))
"""What is saved."""
_RECORD = (
    "`make traces` records them (needs Go), in a checkout of the repository; `--traces traces` compares the few that "
    "the repository has"
)


@dataclass(frozen=True)
class Validation:
    """Both simulators' results, run by run."""

    root: Path
    """Folder of the tables, the picture and every single run."""
    rows: pl.DataFrame
    """One row for each run: `kernel_time_ps`, `kernel_time_reference_ps`, `kernel_time_error`, and for each count of
    `COUNTS` the same, and whether instruction fetches explain the difference. Also `launches` and
    `kernel_time_net_error` (without the constant of each launch). `launch_error` is the sum of all launches' absolute
    differences over the reference's time, and `launch_worst` the largest error of a launch. Both are null where the
    reference's launches are not known."""
    launches: pl.DataFrame
    """One row for each launch that the reference has: `time_ps`, `time_reference_ps`, `error`, `net_error`."""
    reference: Path
    """The table of the reference's results."""
    without_trace: list[str] = field(default_factory=list)
    """Runs of the reference that there is no trace of."""

    @property
    def summaries(self) -> list[Summary]:
        """By number of GPUs, with and without runs that the reference computes wrongly."""
        return summarise(self.rows, self.launches)

    @property
    def goals_met(self) -> bool:
        """Whether every goal is met by the runs that the reference computes rightly."""
        judged = [summary for summary in self.summaries if not summary.with_unreliable]
        return bool(judged) and all(all(summary.met().values()) for summary in judged)

    def to_dict(self) -> dict[str, Any]:
        """The validation as JSON holds it."""
        return {
            "reference": f"MGPUSim {reference.VERSION}",
            "goals_met": self.goals_met,
            "summaries": [summary.to_dict() for summary in self.summaries],
            "definitions": [
                {"count": one.name, "definition": one.definition, "differs": one.differs, "judged": one.judged}
                for one in COUNTS
            ],
            "without_trace": self.without_trace,
            "rows": self.rows.to_dicts(),
            "launches": self.launches.to_dicts(),
        }


def mgpusim(  # noqa: PLR0913 - as many arguments as the command has options
    output: str | Path,
    *,
    gpus: Sequence[int] = reference.GPUS,
    only: Sequence[str] = (),
    points: Sequence[str] = (),
    table: str | Path | None = None,
    traces: str | Path | None = None,
    rerun: bool = False,
    overrides: Sequence[str] = (),
    workers: int | None = None,
    force: bool = False,
    watch: Callable[[Progress], None] | None = None,
) -> Validation:
    """Compare kernel times and counts with MGPUSim on the same programs.

    Args:
        output: folder of results, tables and picture.
        gpus: numbers of GPUs: 1, 4 or both.
        only: benchmarks by name; all if empty.
        points: points of your own in place of the shipped ones, such as `fir -length 5000 -taps 7`: MGPUSim is run and
            the program recorded into `output` first (needs Go).
        table: the reference's results; the shipped ones if left out.
        traces: folder of the traces; the one that `make traces` records if left out.
        rerun: run the reference itself again first (needs Go); its results go to a new table in `output`.
        overrides: changes of the nodes, such as `node.compute.vector_decoder=0`, to see what a part of the model
            contributes.
        workers: runs side by side; as many as there are cores if left out. Results do not depend on it.
        force: replace what `output` holds.
        watch: called about ten times a second with the progress of the runs.

    Raises:
        ValidationError: the reference cannot be used, or there is no trace of any of the runs.
        OctavoError: a trace cannot be simulated, or the folder cannot be written.

    """
    root = Path(output)
    if points:
        if only or table is not None or traces is not None or rerun:
            raise ValidationError(
                "--point stands alone",
                "leave out --only, --reference, --traces and --rerun, or --point",
                code="conflict",
                key="point",
            )
        table, traces = own_points(root, points, gpus, force=force)
    path = Path(table) if table is not None else reference.needed(reference.FILE, "--reference and --traces")
    chosen = reference.choose(reference.load(path), gpus, only)
    if rerun:
        path = run_reference(path, root, chosen, force=force)
        chosen = reference.choose(reference.load(path), gpus, only)
    home = Path(traces) if traces is not None else reference.recorded()
    there = _with_traces(chosen, home)
    simulated = [_point(row, home, root, overrides) for row in there]
    key = digest(point.scenario for point in simulated)
    with experiment_folder(root, key, force=force, draws=True, writes=_FILES):
        results = execute(simulated, workers=workers, force=force, watch=watch)
        known = launches.load(path)
        rows, by_launch = [], []
        for row, result in zip(there, results, strict=True):
            of_run = launches.compare(row, result, known)
            rows.append(compare(row, result, of_run))
            by_launch += of_run
        without_trace = [row.name for row in chosen if row not in there]
        table_of_runs = pl.DataFrame(rows, infer_schema_length=None)
        found = Validation(root, table_of_runs, launches.frame(by_launch), path, without_trace)
        _save(found, key)
    return found


def compare(row: Row, result: RunResult, by_launch: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One run beside the reference's."""
    summary = result.summary
    found = {
        "name": row.name,
        "benchmark": row.benchmark,
        "parameters": row.parameters,
        "gpus": row.gpus,
        "reliable": row.reliable,
        "kernel_time_ps": summary["time_ps"],
        "kernel_time_reference_ps": row.kernel_time_ps,
        "kernel_time_error": summary["time_ps"] / row.kernel_time_ps - 1.0,
        **launches.of_run(row, by_launch, summary["time_ps"], result.table("kernels").height),
    }
    for count in COUNTS:
        ours, theirs = count.found(result.totals["accesses"]), count.reference(row.counts)
        found |= {
            count.name: ours,
            f"{count.name}_reference": theirs,
            f"{count.name}_error": error(ours, theirs),
            f"{count.name}_within_but_code": code_explains(count, ours, row.counts),
        }
    return found


def _with_traces(rows: Sequence[Row], home: Path) -> list[Row]:
    if not home.is_dir():
        raise ValidationError(f"there is no folder of traces {home}", _RECORD, code="missing", file=home)
    there = [row for row in rows if (home / f"{row.name}.trace").is_dir()]
    if not there:
        raise ValidationError(
            f"{home} holds no trace of any of the runs, such as {rows[0].name}.trace",
            _RECORD,
            file=home,
            code="missing",
        )
    return there


def _point(row: Row, home: Path, root: Path, overrides: Sequence[str]) -> Point:
    workload = trace_name(home / f"{row.name}.trace")
    recipe = Recipe.from_names(workload, "interleaved", NODES[row.gpus])
    recipe = recipe.with_overrides([*SETTINGS, *overrides])
    return Point(row.label, recipe.resolve(), inside(root, RUNS, row.name))


def _save(found: Validation, key: str) -> None:
    pictures.agreement(found.root / PICTURE, found.rows, title=f"Kernel time: Octavo and MGPUSim {reference.VERSION}")
    write(found.root, key, {TABLE: found.rows, LAUNCHES: found.launches}, found.to_dict())
