"""Remarks of a publication: what it says, what is found here, and whether that agrees.

`octavo_studies/STUDY/remarks.toml` has every remark with the verdict that is tracked. Where rows of the study can tell,
code judges; the file then says why for the verdict that it tracks. `rows/` beside it has the rows that were judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from octavo.files import disk
from octavo.files.toml import parsed
from octavo_studies.engine.tables import Table

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from pathlib import Path

HOLDS, IN_PART, NO, UNJUDGED = "holds", "in part", "no", "cannot be judged"
VERDICTS = (HOLDS, IN_PART, NO, UNJUDGED)
FILE, ROWS = "remarks.csv", "rows"
"""What is left in the folder of a study: the table, and below the other the rows that it was judged by."""
_DIGITS = 4
"""Significant digits of rows that are kept."""

Frames = Mapping[str, pl.DataFrame]
"""Rows of the parts that were run, by name."""


class Judged(NamedTuple):
    """What code says of a remark."""

    verdict: str
    found: str


@dataclass(frozen=True)
class Judge:
    """Code that judges a remark by the rows of parts."""

    parts: tuple[str, ...]
    of: Callable[..., Judged | None]
    """Called with a frame for each part; None if they have too few rows."""

    def __call__(self, frames: Frames) -> Judged | None:
        """Judge, if every part was run."""
        if any(part not in frames for part in self.parts):
            return None
        return self.of(*(frames[part] for part in self.parts))


@dataclass(frozen=True)
class Remarks:
    """All remarks of a publication, and who judges which."""

    study: str
    judges: Mapping[str, Judge]
    rows: Mapping[str, tuple[str, ...]]
    """The columns that judges read, by part."""

    @property
    def folder(self) -> Traversable:
        """Where remarks and rows are tracked."""
        return files("octavo_studies").joinpath(self.study)

    @cached_property
    def said(self) -> dict[str, dict[str, str]]:
        """Every remark by its name, with `where`, `remark`, `verdict` and `why`."""
        values = parsed(self.folder.joinpath("remarks.toml").read_text(encoding="utf-8"))
        return {name: value for name, value in values.items() if isinstance(value, dict)}

    @cached_property
    def made(self) -> str:
        """The version and the command that made the tracked verdicts."""
        values = parsed(self.folder.joinpath("remarks.toml").read_text(encoding="utf-8"))
        return f"Octavo {values['made_with']}, {values['made_by']}"

    @cached_property
    def tracked_rows(self) -> dict[str, pl.DataFrame]:
        """The rows that the tracked verdicts were judged by."""
        folder = self.folder.joinpath(ROWS)
        return {
            part: pl.read_csv(folder.joinpath(f"{part}.csv").read_bytes(), infer_schema_length=None)
            for part in self.rows
        }

    def kept(self, frames: Frames) -> dict[str, pl.DataFrame]:
        """What judges read of these rows."""
        digits = pl.selectors.float().round_sig_figs(_DIGITS)
        return {
            part: frames[part].select(columns).with_columns(digits)
            for part, columns in self.rows.items()
            if part in frames
        }

    def judged(self, frames: Frames) -> list[dict[str, str]]:
        """One row for each remark that these rows, or none, can judge.

        `found` is what rows say. `why` is what the file says, if the verdict is the one that it tracks, and `tracked`
        has the tracked verdict where it is another.
        """
        kept = self.kept(frames)
        rows = []
        for name, said in self.said.items():
            found = self.judges[name](kept) if name in self.judges else Judged(said["verdict"], "")
            if found is None:
                continue
            same = found.verdict == said["verdict"]
            row = {"id": name, "where": said["where"], "remark": said["remark"], "verdict": found.verdict}
            why, tracked = (said.get("why", ""), "") if same else ("", said["verdict"])
            rows.append({**row, "found": found.found, "why": why, "tracked": tracked})
        return rows

    def save(self, root: Path, frames: Frames) -> list[dict[str, str]]:
        """Judge, and write the table and the rows it was judged by into the folder of a study."""
        rows = self.judged(frames)
        disk.write_text(root / FILE, pl.DataFrame(rows).write_csv())
        (root / ROWS).mkdir(exist_ok=True)
        for part, table in self.kept(frames).items():
            disk.write_text(root / ROWS / f"{part}.csv", table.write_csv())
        return rows

    def shown(self, rows: list[dict[str, str]]) -> Iterable[Table | str]:
        """The table as it is printed, and what is not in it."""
        cells = [[f"{row['id']}, {row['where']}", row["remark"], _told(row), reason(row)] for row in rows]
        yield Table("What the publication says", ["", "remark", "verdict", "found, and why"], cells)
        counts = ", ".join(f"{sum(row['verdict'] == one for row in rows)} {one}" for one in VERDICTS)
        yield f"Remarks: {counts}. Tracked verdicts: {self.made}."
        if left := [name for name in self.said if name not in {row["id"] for row in rows}]:
            yield f"Judged by parts that did not run, or ran without what they need: {', '.join(left)}."


def _told(row: Mapping[str, str]) -> str:
    return f"{row['verdict']} (tracked: {row['tracked']})" if row["tracked"] else row["verdict"]


def reason(row: Mapping[str, str]) -> str:
    """What was found, and why."""
    return ". ".join(one.rstrip(".") for one in (row["found"], row["why"]) if one)


def verdict(holds: Iterable[bool]) -> str:
    """The verdict of a remark that holds in each of several cases, or does not."""
    each = list(holds)
    return HOLDS if all(each) else IN_PART if any(each) else NO


def listed(values: Mapping[str, Any], form: str = ".2f") -> str:
    """Names with their values."""
    return ", ".join(f"{name} {value:{form}}" for name, value in values.items())
