"""The one fit that is allowed: the driver's service time and the remote lines in flight.

Only the average speed of duplication and of access counters over on-touch is compared with the published one. GRIT is
not even run, nothing is fitted for a single kernel, and the whole grid is shown.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.report.published import published
from octavo.runs import measures, pictures
from octavo.runs.experiment import Variant
from octavo.runs.speedups import with_speedup

if TYPE_CHECKING:
    from octavo_studies.engine import Found
    from octavo_studies.grit.study import Study

SERVICE_TIMES = ("0.3125us", "0.625us", "1.25us", "2.5us", "5us")
"""Service time of a request with one server: only their ratio matters once the driver is saturated."""
LINES_IN_FLIGHT = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
"""Remote lines a GPU may have in flight."""
FITTED = ("duplication", "access-counter")


def fit(study: Study) -> Found:
    """Run the whole grid and leave its table and heat maps; errors as `Experiment.run`.

    `grid` has one row for each point: `service`, `lines_in_flight`, average speed over on-touch by placement, and
    `error`: root mean square of the logarithms of found over published; 0.1 is about 10 % off. `best` is the row
    nearest to the published averages.
    """
    variants = [
        Variant(label, (f"memory.placement={label.split()[0]}", *_setting(service, lines)))
        for service in SERVICE_TIMES
        for lines in LINES_IN_FLIGHT
        for label in _labels(service, lines).values()
    ]
    runs, outcome = study.compare("fit", list({variant.label: variant for variant in variants}.values()))
    rows = [_row(outcome.points, service, lines) for service in SERVICE_TIMES for lines in LINES_IN_FLIGHT]
    grid = pl.DataFrame(rows)
    document = {
        "source_of_published": published().source,
        "targets": published().fit_targets,
        "best": grid.sort("error", maintain_order=True).row(0, named=True),
        "grid": grid,
    }
    return runs.found("Average speed over on-touch (published)", outcome.points, document, _draw)


def _setting(service: str, lines: int) -> tuple[str, ...]:
    driver = f'node.driver.service={{model="pool", service="{service}", servers=1}}'
    return (driver, f"node.remote.lines_in_flight={lines}")


def _labels(service: str, lines: int) -> dict[str, str]:
    """The variant of each placement at a grid point. On-touch and duplication have no remote lines to limit."""
    return {
        "on-touch": f"on-touch {service}",
        "duplication": f"duplication {service}",
        "access-counter": f"access-counter {service} {lines}",
    }


def _row(points: pl.DataFrame, service: str, lines: int) -> dict[str, Any]:
    labels = _labels(service, lines)
    here = points.filter(pl.col("variant").is_in(list(labels.values())))
    speedups = with_speedup(here, labels["on-touch"])
    averages = {
        name: measures.geometric_mean(speedups.filter(pl.col("variant") == labels[name])["speedup"]) for name in FITTED
    }
    errors = [math.log(averages[name] / published().fit_targets[name]) ** 2 for name in FITTED]
    error = math.sqrt(sum(errors) / len(errors))
    return {"service": service, "lines_in_flight": lines, **averages, "error": error}


def _draw(found: Found) -> None:
    root, grid = found.root, found.grid
    for column, title in (
        *((name, f"{name} over on-touch (published {published().fit_targets[name]:.2f})") for name in FITTED),
        ("error", "distance from both published averages"),
    ):
        values = grid[column].to_list()
        rows = [values[start : start + len(LINES_IN_FLIGHT)] for start in range(0, len(values), len(LINES_IN_FLIGHT))]
        pictures.heat_map(
            root / f"fit_{column}.png",
            rows,
            SERVICE_TIMES,
            [str(lines) for lines in LINES_IN_FLIGHT],
            ("driver service time", "remote lines in flight"),
            title,
        )
