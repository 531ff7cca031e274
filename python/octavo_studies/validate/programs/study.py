"""Simulates measured programs whole, on each kind of memory, and puts measured and simulated side by side."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.errors import ValidationError
from octavo.files.links import inside
from octavo.runs.comparison import REPORT_FILE, experiment_folder
from octavo.runs.execute import Point, execute
from octavo.runs.experiment import RUNS
from octavo.scenarios import catalogue
from octavo.scenarios.scenario import digest
from octavo_studies.engine import write
from octavo_studies.validate.programs import phases, picture, records, scenarios, times
from octavo_studies.validate.programs.order import Order

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from octavo.runs.execute import Progress
    from octavo.runs.result import RunResult
    from octavo.scenarios.scenario import Scenario
    from octavo_studies.validate.programs.times import Key, Measured

TABLE, COUNTS, PICTURE = "programs", "records", "programs.png"
_FILES = (REPORT_FILE, PICTURE, f"{TABLE}.parquet", f"{TABLE}.csv")
"""What is saved; of recordings, a table more."""
_WORST = {"worst": "error", "program": "program", "scale": "scale"}


@dataclass(frozen=True)
class ProgramsValidation:
    """Measured and simulated programs, side by side."""

    root: Path
    """Folder of the tables, the picture and every single run."""
    node: str
    rows: pl.DataFrame
    """One row for each program, scale, kind and time of `times.TIMES` that was measured: `measured` (the median),
    `low` and `high` (the quartiles), `simulated`, all in seconds, and `error`, relative to measured; null where that
    is 0."""
    counts: pl.DataFrame | None
    """One row for each program, scale and kind with records: `records.COUNTS`, and the same as `simulated_…`."""
    left_out: Mapping[str, str]
    """Why a program was not simulated, by name."""

    @property
    def judged(self) -> list[str]:
        """Times that were measured of those that say how far a program is off: some of `times.JUDGED`."""
        there = set(self.rows["time"])
        return [time for time in times.JUDGED if time in there]

    def errors(self, time: str) -> pl.DataFrame:
        """By kind: `programs`, the `median` of absolute errors of a time, the `worst` error, `program` and `scale`."""
        rows = self.rows.filter(pl.col("time") == time)
        size = pl.col("error").abs()
        worst = {name: pl.col(column).sort_by(size).last() for name, column in _WORST.items()}
        return rows.group_by("kind", maintain_order=True).agg(programs=pl.len(), median=size.median(), **worst)

    def orders(self, time: str) -> dict[tuple[str, float], Order]:
        """The order of kinds by a time, of each program and scale with more than one kind."""
        found = {}
        rows = self.rows.filter(pl.col("time") == time)
        for (program, scale), part in rows.group_by("program", "scale", maintain_order=True):
            if part.height > 1:
                spreads = {
                    row["kind"]: times.Spread(row["low"], row["measured"], row["high"]) for row in part.to_dicts()
                }
                simulated = dict(part.select("kind", "simulated").iter_rows())
                found[str(program), float(scale)] = Order.of(spreads, simulated)
        return found

    def to_dict(self) -> dict[str, Any]:
        """The validation as JSON holds it."""
        return {
            "node": self.node,
            "errors": {time: self.errors(time).to_dicts() for time in (*self.judged, "kernels")},
            "orders": {
                time: [
                    {"program": program, "scale": scale, **order.to_dict()}
                    for (program, scale), order in self.orders(time).items()
                ]
                for time in self.judged
            },
            "rows": self.rows.to_dicts(),
            "records": None if self.counts is None else self.counts.to_dicts(),
            "left_out": dict(self.left_out),
        }


def programs(  # noqa: PLR0913 - as many arguments as the command has options
    measured: str | Path,
    output: str | Path,
    *,
    node: str | Path,
    recordings: str | Path | None = None,
    only: Sequence[str] = (),
    overrides: Sequence[str] = (),
    workers: int | None = None,
    force: bool = False,
    watch: Callable[[Progress], None] | None = None,
) -> ProgramsValidation:
    """Simulate measured programs on a node.

    Args:
        measured: a CSV file as `validation/gpu/programs.cu` prints it.
        output: folder of results, tables and picture.
        node: a node preset, or the machine file of the GPU that was measured.
        recordings: folder of CUPTI's records of single runs, by program, scale and kind.
        only: programs by name, or `program/scale`, or `program/scale/kind`; all if empty.
        overrides: changes of the runs, such as `memory.page_size=2MiB`, to see what a part of the model contributes.
        workers: runs side by side; as many as there are cores if left out. Results do not depend on it.
        force: replace what `output` holds.
        watch: called about ten times a second with the progress of the runs.

    Raises:
        ValidationError: the table cannot be used, or no program of it can be simulated.
        OctavoError: a program cannot be simulated, or the folder cannot be written.

    """
    root, home = Path(output), None if recordings is None else Path(recordings)
    if home is not None:
        records.check(home)
    chosen = _chosen(times.read(Path(measured)), only)
    known = set(catalogue.names("workloads"))
    there = [one for one in chosen if one.program in known]
    if not there:
        raise ValidationError(f"{measured}: Octavo has a workload of none of these programs", "octavo list workloads")
    made = [scenarios.scenario(one, node, overrides) for one in there]
    key = digest(made)
    with experiment_folder(root, key, force=force, draws=True, writes=_FILES):
        results = _simulated(there, made, root, workers=workers, force=force, watch=watch)
        rows = [row for one, result in zip(there, results, strict=True) for row in _rows(one, result)]
        left_out = dict.fromkeys(
            (one.program for one in chosen if one.program not in known), "there is no such workload"
        )
        counts = None if home is None else _counts(there, results, home)
        found = ProgramsValidation(root, str(node), pl.DataFrame(rows), counts, left_out)
        _save(found, key)
    return found


def _chosen(rows: Sequence[Measured], only: Sequence[str]) -> list[Measured]:
    """The rows that were asked for, in their order."""
    names = [{one.program, f"{one.program}/{one.scale:g}", label(one.key)} for one in rows]
    for asked in only:
        if not any(asked in each for each in names):
            known = ", ".join(dict.fromkeys(one.program for one in rows))
            raise ValidationError(
                f"`{asked}` was not measured", f"there are {known}; say NAME, NAME/SCALE or NAME/SCALE/KIND"
            )
    return [one for one, each in zip(rows, names, strict=True) if not only or each & set(only)]


def label(key: Key) -> str:
    """A measured program in a word, as `only` takes it."""
    program, scale, kind = key
    return f"{program}/{scale:g}/{kind}"


def _simulated(
    there: Sequence[Measured],
    made: Sequence[Scenario],
    root: Path,
    *,
    workers: int | None,
    force: bool,
    watch: Callable[[Progress], None] | None,
) -> list[RunResult]:
    points = [
        Point(label(one.key), scenario, inside(root, RUNS, scenario.digest))
        for one, scenario in zip(there, made, strict=True)
    ]
    return execute(points, workers=workers, force=force, watch=watch)


def _rows(one: Measured, result: RunResult) -> list[dict[str, Any]]:
    simulated = phases.seconds(result)
    return [
        {
            "program": one.program,
            "scale": one.scale,
            "kind": one.kind,
            "time": name,
            "measured": spread.median,
            "low": spread.low,
            "high": spread.high,
            "simulated": simulated[name],
            "error": simulated[name] / spread.median - 1 if spread.median else None,
        }
        for name, spread in one.times.items()
    ]


def _counts(there: Sequence[Measured], results: Sequence[RunResult], home: Path) -> pl.DataFrame | None:
    """Recorded and simulated counts of the programs that have records."""
    rows = []
    for one, result in zip(there, results, strict=True):
        path = records.find(home, one.key)
        if path is not None:
            found = {f"simulated_{name}": count for name, count in records.simulated(result).items()}
            place = {"program": one.program, "scale": one.scale, "kind": one.kind}
            rows.append({**place, **records.recorded(path), **found})
    return pl.DataFrame(rows) if rows else None


def _save(found: ProgramsValidation, key: str) -> None:
    picture.draw(found.root / PICTURE, found.rows)
    write(found.root, key, {TABLE: found.rows, COUNTS: found.counts}, found.to_dict())
