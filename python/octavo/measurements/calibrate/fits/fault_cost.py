"""Fault costs: seconds = groups x per_group + pages x per_page."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import polars as pl

from octavo.arrays import np
from octavo.measurements.calibrate.fits.estimate import Estimate, Unfit, spread
from octavo.measurements.calibrate.fits.line import furthest
from octavo.measurements.calibrate.fits.rows import whole_repetitions

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODEL = "seconds = groups x per_group + pages x per_page, non-negative least squares of relative errors"
BLOCK_BYTES = 2 << 20
"""From this stride on, each touched page lies in a different block of the driver and faults by itself: the prefetch
tree never crosses 2 MiB (UVM_VA_BLOCK_BITS of NVIDIA's open kernel modules, release 595.45.04)."""
_CONDITION = 100.0
"""The condition number of the scaled design above which groups and pages cannot be separated at a noise of one per
cent."""


@dataclass(frozen=True)
class FaultCosts:
    """Costs of each repetition, in seconds."""

    per_group: list[float]
    per_page: list[float]
    note: str


def group(table: pl.DataFrame) -> Estimate:
    """Fixed seconds that any group of faults takes."""
    costs = fault_costs(table)
    return spread(costs.per_group, costs.note)


def page(table: pl.DataFrame) -> Estimate:
    """Seconds each faulting page adds to its group."""
    costs = fault_costs(table)
    return spread(costs.per_page, costs.note)


def with_groups(table: pl.DataFrame) -> pl.DataFrame:
    """The rows in which each page has a fault of its own, with `groups`: each thread block has one fault in flight.

    Raises:
        Unfit: there are no such rows.

    """
    rows = table.filter((pl.col("pattern") == "strided") & (pl.col("stride") >= BLOCK_BYTES))
    if rows.is_empty():
        raise Unfit("no strided samples with a stride of 2 MiB or more, in which every page is a fault of its own")
    return rows.with_columns(groups=(pl.col("pages") / pl.col("blocks")).ceil())


def fault_costs(table: pl.DataFrame) -> FaultCosts:
    """Fit the costs of a group and of a page to the demand series of one direction.

    Raises:
        Unfit: groups and pages cannot be told apart in these samples.

    """
    rows = with_groups(table)
    parts = whole_repetitions(rows, "stride", "blocks", "pages")
    _check_identifiable(parts[0])
    found = [_one(part) for part in parts]
    blocks = sorted(rows["blocks"].unique().to_list())
    points = [f"{pages} pages, {flight} in flight" for pages, flight in parts[0].select("pages", "blocks").iter_rows()]
    errors = [_design(part) @ costs - 1 for part, costs in zip(parts, found, strict=True)]
    note = f"{parts[0].height} points with {blocks[0]} to {blocks[-1]} pages in flight; {furthest(errors, points)}"
    return FaultCosts([group for group, _ in found], [page for _, page in found], note)


def _check_identifiable(part: pl.DataFrame) -> None:
    design = _design(part)
    if part.height < 3:
        raise Unfit(f"two costs need 3 points, found {part.height}")
    condition = float(np.linalg.cond(design / np.linalg.norm(design, axis=0)))
    if condition > _CONDITION:
        blocks = sorted(part["blocks"].unique().to_list())
        raise Unfit(
            f"groups and pages cannot be told apart with blocks in flight of {', '.join(map(str, blocks))}",
            "inseparable",
        )


def _one(part: pl.DataFrame) -> tuple[float, float]:
    group, page = non_negative(_design(part), np.ones(part.height))
    return group, page


def _design(part: pl.DataFrame) -> NDArray[np.float64]:
    seconds = part["seconds"].to_numpy()
    return np.column_stack([part["groups"].to_numpy() / seconds, part["pages"].to_numpy() / seconds])


def non_negative(design: NDArray[np.float64], target: NDArray[np.float64]) -> tuple[float, ...]:
    """The least-squares solution without negative coefficients, found by trying every set of non-zero ones."""
    columns = range(design.shape[1])
    best, smallest = tuple(0.0 for _ in columns), float(np.linalg.norm(target))
    for count in range(1, design.shape[1] + 1):
        for used in combinations(columns, count):
            part = design[:, used]
            scale = np.linalg.norm(part, axis=0)
            solved = np.linalg.lstsq(part / scale, target, rcond=None)[0] / scale
            error = float(np.linalg.norm(part @ solved - target))
            if (solved >= 0).all() and error < smallest:
                values = dict(zip(used, solved.tolist(), strict=True))
                best, smallest = tuple(values.get(column, 0.0) for column in columns), error
    return best
