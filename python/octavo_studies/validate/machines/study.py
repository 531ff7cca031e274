"""Runs the patterns that stand for a machine's samples on its node, and puts measured and simulated side by side."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.errors import ValidationError
from octavo.files.links import inside
from octavo.measurements.calibrate import folder as samples_folder
from octavo.measurements.calibrate import machine as machine_file
from octavo.measurements.calibrate import patterns
from octavo.measurements.calibrate.probes import PROBES
from octavo.runs.comparison import REPORT_FILE, experiment_folder
from octavo.runs.execute import Point, execute
from octavo.runs.experiment import RUNS
from octavo.scenarios.scenario import digest
from octavo_studies.engine import write
from octavo_studies.validate.machines import picture
from octavo_studies.validate.machines.points import choose

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from octavo.measurements.calibrate.machine import Machine
    from octavo.measurements.calibrate.patterns import Pattern
    from octavo.measurements.calibrate.samples import Samples
    from octavo.runs.execute import Progress
    from octavo_studies.validate.machines.points import Measurement

WITHIN = 0.2
"""How far apart simulated and measured may be, relative to measured, to count as near."""
TABLE = "machine"
PICTURE = "machine.png"
_FILES = (REPORT_FILE, PICTURE, f"{TABLE}.parquet", f"{TABLE}.csv")
"""What is saved."""


@dataclass(frozen=True)
class MachineValidation:
    """Measured and simulated, point by point."""

    root: Path
    """Folder of the tables, the picture and every single run."""
    machine: Machine
    rows: pl.DataFrame
    """One row for each point: `probe`, `series`, `point` (its parameters), `unit`, `measured`, `simulated`, `error`
    (relative to measured)."""
    left_out: Mapping[tuple[str, str], int]
    """How many points were not compared, by `probe.series` and reason."""

    @property
    def shares(self) -> pl.DataFrame:
        """By series: `points`, `near` (the share within 20 %), `median` and `worst` error, in absolute terms."""
        error = pl.col("error").abs()
        return self.rows.group_by("probe", "series", maintain_order=True).agg(
            points=pl.len(), near=(error <= WITHIN).mean(), median=error.median(), worst=error.max()
        )

    @property
    def near(self) -> float:
        """Share of all points within 20 %."""
        return float((self.rows["error"].abs() <= WITHIN).mean())  # type: ignore[arg-type]  # a column of truth values

    @property
    def far(self) -> pl.DataFrame:
        """The points beyond 20 %, the furthest first."""
        error = pl.col("error").abs()
        return self.rows.filter(error > WITHIN).sort(error, descending=True)

    def to_dict(self) -> dict[str, Any]:
        """The validation as JSON holds it."""
        return {
            "machine": dict(self.machine.about),
            "within": WITHIN,
            "near": self.near,
            "series": self.shares.to_dicts(),
            "rows": self.rows.to_dicts(),
            "left_out": [
                {"series": series, "reason": reason, "points": count}
                for (series, reason), count in self.left_out.items()
            ],
        }


def machine(
    path: str | Path,
    output: str | Path,
    *,
    only: Sequence[str] = (),
    workers: int | None = None,
    force: bool = False,
    watch: Callable[[Progress], None] | None = None,
) -> MachineValidation:
    """Simulate the patterns of a machine's samples on its node.

    Args:
        path: a machine file with a node, and its samples beside it, as `octavo calibrate` leaves them.
        output: folder of results, table and picture.
        only: probes by name; all if empty.
        workers: runs side by side; as many as there are cores if left out. Results do not depend on it.
        force: replace what `output` holds.
        watch: called about ten times a second with the progress of the runs.

    Raises:
        ValidationError: the machine file has no node, or there are no samples that can be compared.
        OctavoError: a file cannot be read, or the folder cannot be written.

    """
    path, root = Path(path), Path(output)
    found = machine_file.read(path)
    if found.node is None:
        raise ValidationError(
            f"{path} has no [node]", "`octavo calibrate` derives one from what it measured", file=path
        )
    node = patterns.Node(path)
    chosen = choose(node, _samples(path, only))
    if not chosen.measurements:
        raise ValidationError(f"no samples of {path} can be compared", "measure more probes with `octavo calibrate`")
    made = [one.pattern() for one in chosen.measurements]
    key = digest(scenario for pattern in made for scenario in pattern.scenarios)
    with experiment_folder(root, key, force=force, draws=True, writes=_FILES):
        values = _simulated(made, root, workers=workers, force=force, watch=watch)
        rows = pl.DataFrame([_row(one, value) for one, value in zip(chosen.measurements, values, strict=True)])
        validation = MachineValidation(root, found, rows, chosen.left_out)
        _save(validation, key)
    return validation


def _samples(path: Path, only: Sequence[str]) -> list[Samples]:
    directory = path.with_name(f"{path.stem}.samples")
    for name in only:
        if name not in PROBES:
            raise ValidationError(f"`{name}` is no probe", f"there are {', '.join(PROBES)}")
    names = [name for name in PROBES if not only or name in only]
    return [samples_folder.read(directory, name) for name in names if samples_folder.is_finished(directory, name)]


def _simulated(
    made: Sequence[Pattern],
    root: Path,
    *,
    workers: int | None,
    force: bool,
    watch: Callable[[Progress], None] | None,
) -> list[float]:
    """The simulated value of each point; scenarios that several points have in common run once."""
    unique = {scenario.toml: scenario for pattern in made for scenario in pattern.scenarios}
    points = [
        Point(f"{index + 1} of {len(unique)}", scenario, inside(root, RUNS, scenario.digest))
        for index, scenario in enumerate(unique.values())
    ]
    results = execute(points, workers=workers, force=force, watch=watch)
    seconds = {text: patterns.launches(result) for text, result in zip(unique, results, strict=True)}
    return [pattern.value([seconds[scenario.toml] for scenario in pattern.scenarios]) for pattern in made]


def _row(one: Measurement, value: float) -> dict[str, Any]:
    return {
        "probe": one.probe,
        "series": one.series,
        "point": one.point,
        "unit": one.unit,
        "measured": one.value,
        "simulated": value,
        "error": value / one.value - 1,
    }


def _save(found: MachineValidation, key: str) -> None:
    picture.scatter(found.root / PICTURE, found.rows, WITHIN)
    write(found.root, key, {TABLE: found.rows}, found.to_dict())
