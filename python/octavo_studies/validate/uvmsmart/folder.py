"""The comparison with UVMSmart's rules in a folder: its rows as a table, a report, a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.runs.comparison import SAVED, experiment_folder, save_report
from octavo.scenarios.scenario import digest
from octavo_studies.validate.uvmsmart import picture
from octavo_studies.validate.uvmsmart.cases import cases
from octavo_studies.validate.uvmsmart.programs import OVERSUBSCRIPTIONS
from octavo_studies.validate.uvmsmart.study import COUNTS, UvmsmartValidation, beside

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from octavo.runs.execute import Progress

PICTURE = "counts.png"


def study_in(
    root: Path,
    *,
    only: Sequence[str] | None = None,
    oversubscriptions: Sequence[int] = OVERSUBSCRIPTIONS,
    workers: int | None = None,
    force: bool = False,
    watch: Callable[[Progress], None] | None = None,
) -> UvmsmartValidation:
    """As `study.compare`, and leaves what it finds in a folder; `force` replaces what that holds.

    Raises:
        OctavoError: as `study.compare`, or the folder holds something else.

    """
    asked = cases(only, oversubscriptions)
    key = digest(case.scenario for case in asked)
    with experiment_folder(root, key, force=force, draws=True, writes=(*SAVED, PICTURE)):
        found = beside(asked, root, workers=workers, force=force, watch=watch)
        save_report(root, key, points(found), found.to_dict())
        picture.counts(root / PICTURE, found)
    return found


def points(found: UvmsmartValidation) -> pl.DataFrame:
    """One row for each program, policy and memory: counts of the rules and of Octavo, null where one is stuck."""
    rows = [
        {
            "program": row.program,
            "policy": row.policy,
            "oversubscription": row.oversubscription,
            "capacity_pages": row.capacity,
            **{f"{count}_rules": getattr(row.rules, count, None) for count in COUNTS},
            **{f"{count}_octavo": getattr(row.octavo, count, None) for count in COUNTS},
        }
        for row in found.rows
    ]
    return pl.DataFrame(rows, infer_schema_length=None)
