"""The result of a run: a summary and tables."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from octavo import html
from octavo.errors import DamagedError, OutputError
from octavo.files import manifest, parquet
from octavo.plain import near
from octavo.runs.content import (
    RESULT_FORMAT,
    SCENARIO_FILE,
    SUMMARY_FILE,
    check_is_folder,
    holds_result,
    instead,
    is_imported,
)
from octavo.runs.pressure import pressure
from octavo.scenarios.about import about
from octavo.scenarios.scenario import Scenario
from octavo.verbs import Verb

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from octavo.files.manifest import Manifest
    from octavo.runs.content import ProfileTable
    from octavo.runs.totals import Rows, Summary, TableName

_AGAIN = "remove the folder, then run it again"


@dataclass(frozen=True, repr=False)
class RunResult:
    """One finished run, read from its folder on demand."""

    folder: Path

    def __post_init__(self) -> None:
        """Take the name of a folder for the folder."""
        object.__setattr__(self, "folder", Path(self.folder))

    @classmethod
    def load(cls, folder: str | Path) -> RunResult:
        """Open a finished result.

        Raises:
            OutputError: the folder holds no finished result, or one of another format, or a damaged one.

        """
        folder = Path(folder)
        check_is_folder(folder)
        if not holds_result(folder):
            raise OutputError(f"{folder} holds no finished result", instead(folder), code="no-result", file=folder)
        result = cls(folder)
        result.check_format()
        return result

    def check(self) -> None:
        """Check every file against the manifest.

        Raises:
            DamagedError: a file differs; the message names it, what was expected and what was found.

        """
        manifest.verify(self.folder, self._manifest())

    def _manifest(self) -> Manifest:
        found = manifest.read(self.folder)
        if found is None:
            file = self.folder / manifest.MANIFEST_FILE
            raise DamagedError(f"{file} is missing: it says what Octavo wrote", _AGAIN, code="missing", file=file)
        return found

    def _checked(self, name: str) -> Path:
        """A file of the result, unchanged since it was written."""
        manifest.verify(self.folder, self._manifest(), [name])
        return self.folder / name

    def check_format(self) -> None:
        """Make sure that this Octavo can read the result.

        Raises:
            OutputError: it is of another format, or its summary is damaged.

        """
        found = self.totals.get("format")
        if found != RESULT_FORMAT:
            raise OutputError(
                f"{self.folder / SUMMARY_FILE}: expected a result of format {RESULT_FORMAT}, found format {found}",
                "run it again with this version of Octavo (--force replaces a result)",
                code="other-format",
                file=self.folder / SUMMARY_FILE,
                expected=RESULT_FORMAT,
                found=found,
            )

    @property
    def scenario(self) -> Scenario:
        """What was run.

        Raises:
            OutputError: the file cannot be read; profiles of real programs have none.

        """
        if is_imported(self.folder):
            raise OutputError(
                f"{self.folder} is the profile of a real program and has no scenario",
                code="no-scenario",
                file=self.folder,
            )
        return Scenario(_text(self._checked(SCENARIO_FILE)))

    @property
    def summary(self) -> Summary:
        """Totals of a run; times are picoseconds of simulated time.

        Runs without time, and profiles, have others: see `octavo.runs.totals.InstantSummary`, and `totals`.

        Raises:
            OutputError: the file cannot be read, or is damaged.

        """
        return cast("Summary", self.totals)

    @property
    def totals(self) -> dict[str, Any]:
        """The content of `summary.json`, for any kind of result; errors as `summary`."""
        path = self._checked(SUMMARY_FILE)
        try:
            summary = json.loads(_text(path))
        except (ValueError, RecursionError) as error:
            raise DamagedError(
                f"{path} is damaged: expected JSON, found {error}", _AGAIN, file=path, found=error
            ) from None
        if not isinstance(summary, dict):
            raise DamagedError(
                f"{path} is damaged: expected a JSON object, found {type(summary).__name__}", _AGAIN, file=path
            )
        return summary

    @property
    def has_time(self) -> bool:
        """Whether the run has times; with the executor `instant` it has none."""
        return "time_ps" in self.summary

    @property
    def seconds(self) -> float:
        """Simulated time from the first launch to the end of the last kernel; of whole programs, of all actions.

        Raises:
            OutputError: the run had no time.

        """
        self.check_time()
        return float(self.summary["time_ps"]) * 1e-12

    def check_time(self) -> None:
        """Make sure that the run had a time.

        The picture of one run.

        """
        if not self.has_time:
            raise OutputError(
                f"{self.folder} has no times: it was run with the executor `instant`",
                "expected a run with --executor simulated, the default",
                code="no-time",
                file=self.folder,
            )

    @property
    def tables(self) -> list[str]:
        """Names of the tables."""
        return sorted(Path(name).stem for name in self._manifest().files if name.endswith(".parquet"))

    def table(self, name: TableName | ProfileTable) -> pl.DataFrame:
        """One table as a polars frame.

        Raises:
            OutputError: there is no such table, or it is damaged.

        """
        if name not in self.tables:
            raise OutputError(
                f"no table `{name}` in {self.folder}",
                near(name, self.tables) or f"tables: {', '.join(self.tables)}",
                code="unknown-name",
                found=name,
            )
        path = self._checked(f"{name}.parquet")
        return parquet.read(path, _AGAIN, verified=True)

    @property
    def rows(self) -> Rows:
        """The rows of a table of a simulated run, `rows("kernels")`, as dictionaries with a type for each column."""
        return cast("Rows", lambda name: self.table(name).to_dicts())

    def to_pandas(self, name: TableName | ProfileTable) -> pd.DataFrame:
        """One table as a pandas frame; needs pandas and pyarrow."""
        return self.table(name).to_pandas()

    plot = Verb()
    report = Verb()
    explain = Verb()

    @property
    def name(self) -> str:
        """The workload and its memory system: `fir under grit`."""
        if is_imported(self.folder):
            return f"profile {self.folder.name}"
        scenario = self.scenario
        return f"{scenario.label} under {scenario.system}"

    def __repr__(self) -> str:
        try:
            time = f", {self.seconds * 1e3:.3f} ms" if self.has_time else ", without time"
        except OutputError:
            return f"RunResult({str(self.folder)!r}, which cannot be read)"
        return f"RunResult({self.name}{time}, in {self.folder})"

    def _repr_html_(self) -> str:
        try:
            rows = list(_facts(self).items())
        except OutputError as error:
            return html.paragraph(str(error))
        return html.table(self.name, ["", ""], rows)


def _facts(result: RunResult) -> dict[str, str]:
    """The run as a notebook shows it."""
    manager = result.totals.get("manager", {})
    found = {"time": f"{result.seconds * 1e3:.3f} ms"} if result.has_time else {}
    names = ("far_faults", "protection_faults", "migrations", "duplications", "collapses", "prefetched")
    found |= {name.replace("_", " "): f"{manager[name]:,}" for name in names if name in manager}
    simulated = {} if is_imported(result.folder) else {**_size(result), "node": about(result.scenario.values).sentence}
    return {**found, **simulated, "tables": ", ".join(result.tables), "folder": str(result.folder)}


def _size(result: RunResult) -> dict[str, str]:
    """Footprint and memory, at the scale of the run and at scale 1, and what to know of both."""
    found = pressure(result)
    return {**dict(found.rows()), **({"at this scale": " ".join(found.notes)} if found.notes else {})}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise OutputError(f"cannot read {path}: {error.strerror}", code="unreadable", file=path) from error
    except UnicodeDecodeError:
        raise DamagedError(f"{path} is damaged: it is not UTF-8 text", _AGAIN, file=path) from None
