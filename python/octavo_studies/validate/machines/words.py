"""The comparison as tables of words, for terminals and for Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.measurements.calibrate import quantities
from octavo_studies.validate.machines.study import WITHIN
from octavo_studies.validate.tables import Table, between_marks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from octavo_studies.validate.machines.study import MachineValidation

MARKS = ("<!-- begin: octavo validate machine --markdown -->", "<!-- end: octavo validate machine --markdown -->")


def shares(found: MachineValidation) -> Table:
    """How many points of each series are near, and how far the others are."""
    rows = [
        [
            f"{row['probe']}.{row['series']}",
            str(row["points"]),
            f"{row['near']:.0%}",
            f"{row['median']:.0%}",
            f"{row['worst']:.0%}",
        ]
        for row in found.shares.to_dicts()
    ]
    columns = ["series", "points", f"within {WITHIN:.0%}", "median error", "worst"]
    return Table(f"Measured and simulated: {found.machine.about['gpu']}", columns, rows)


def far(found: MachineValidation, most: int | None = None) -> Table:
    """The points that are not near, the furthest first."""
    rows = found.far if most is None else found.far.head(most)
    return _points(f"Points beyond {WITHIN:.0%}", rows.to_dicts())


def left_out(found: MachineValidation) -> Table:
    """What was measured and is not compared."""
    rows = [[series, str(count), reason] for (series, reason), count in found.left_out.items()]
    return Table("Measured and not compared", ["series", "points", "why"], rows)


def _points(title: str, rows: Sequence[dict[str, Any]]) -> Table:
    cells = [
        [
            f"{row['probe']}.{row['series']}",
            row["point"],
            quantities.text(row["measured"], row["unit"]),
            quantities.text(row["simulated"], row["unit"]),
            f"{row['error']:+.0%}",
        ]
        for row in rows
    ]
    return Table(title, ["series", "point", "measured", "simulated", "error"], cells)


def write_markdown(path: Path, found: MachineValidation) -> None:
    """Put the shares between the marks of a document; the tables in the folder have all points.

    Errors as `between_marks`.
    """
    about = found.machine.about
    device = (
        f"{about['gpu']}, driver {about.get('driver', 'unknown')}, measured on {about.get('date', 'an unknown day')}"
    )
    head = f"{device}: {found.near:.0%} of {found.rows.height} points are within {WITHIN:.0%}.\n"
    between_marks(path, MARKS, f"{head}\n{shares(found).markdown()}")
