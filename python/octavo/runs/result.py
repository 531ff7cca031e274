"""What a run leaves behind: a summary and tables."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.errors import OutputError
from octavo.scenarios.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd

SCENARIO_FILE = "scenario.toml"
SUMMARY_FILE = "summary.json"
RESULT_FORMAT = 2
"""What `summary.json` says as `format`; it grows with every change of what results hold or mean. 1 says nothing."""

_AGAIN = "run it again with --force"


@dataclass(frozen=True)
class RunResult:
    """One finished run, read from its folder when asked for."""

    folder: Path

    @classmethod
    def load(cls, folder: str | Path) -> RunResult:
        """Open a finished result.

        Raises:
            OutputError: the folder holds no finished result, or one of another format.

        """
        folder = Path(folder)
        if not holds_result(folder):
            raise OutputError(f"{folder} holds no finished result", f"a result has {SCENARIO_FILE} and {SUMMARY_FILE}")
        result = cls(folder)
        result.check_format()
        return result

    def check_format(self) -> None:
        """Make sure that this Octavo can read the result.

        Raises:
            OutputError: it is of another format, or its summary is damaged.

        """
        found = self.summary.get("format", 1)
        if found != RESULT_FORMAT:
            raise OutputError(
                f"{self.folder / SUMMARY_FILE}: expected a result of format {RESULT_FORMAT}, found format {found}",
                "run it again with this version of Octavo (--force replaces a result)",
            )

    @property
    def scenario(self) -> Scenario:
        """What was run.

        Raises:
            OutputError: the file cannot be read; profiles of real programs have none.

        """
        if is_imported(self.folder):
            raise OutputError(f"{self.folder} was imported from a profile and has no scenario")
        return Scenario(_text(self.folder / SCENARIO_FILE))

    @property
    def summary(self) -> dict[str, Any]:
        """Totals; times are picoseconds of simulated time.

        Raises:
            OutputError: the file cannot be read, or is damaged.

        """
        path = self.folder / SUMMARY_FILE
        try:
            summary = json.loads(_text(path))
        except ValueError as error:
            raise OutputError(f"{path} is damaged: expected JSON, found {error}", _AGAIN) from None
        if not isinstance(summary, dict):
            raise OutputError(f"{path} is damaged: expected a JSON object, found {type(summary).__name__}", _AGAIN)
        return summary

    @property
    def has_time(self) -> bool:
        """Whether it ran in simulated time; with the executor `instant` it did not."""
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

        Raises:
            OutputError: its executor was `instant`.

        """
        if not self.has_time:
            raise OutputError(
                f"{self.folder} has no times: it was run with the executor `instant`",
                "expected a run with --executor simulated, the default",
            )

    @property
    def tables(self) -> list[str]:
        """Names of the tables."""
        return sorted(path.stem for path in self.folder.glob("*.parquet"))

    def table(self, name: str) -> pl.DataFrame:
        """One table as a polars frame.

        Raises:
            OutputError: there is no such table, or it is damaged.

        """
        path = self.folder / f"{name}.parquet"
        if not path.is_file():
            raise OutputError(f"no table `{name}` in {self.folder}", f"tables: {', '.join(self.tables)}")
        try:
            return pl.read_parquet(path)
        except (pl.exceptions.PolarsError, OSError) as error:
            reason = str(error).splitlines()[0]
            raise OutputError(f"{path} is damaged: expected a Parquet table, found: {reason}", _AGAIN) from None

    def to_pandas(self, name: str) -> pd.DataFrame:
        """One table as a pandas frame; needs pandas and pyarrow."""
        return self.table(name).to_pandas()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise OutputError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError:
        raise OutputError(f"{path} is damaged: it is not UTF-8 text", _AGAIN) from None


def is_finished(folder: Path) -> bool:
    """Whether a folder holds a finished run: results appear under their name only when they are whole."""
    return (folder / SCENARIO_FILE).is_file() and (folder / SUMMARY_FILE).is_file()


def is_imported(folder: Path) -> bool:
    """Whether a folder holds the profile of a real program that `octavo import` wrote."""
    summary = folder / SUMMARY_FILE
    if not summary.is_file() or (folder / SCENARIO_FILE).exists():
        return False
    try:
        found = json.loads(summary.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and isinstance(found.get("source"), dict)


def holds_result(folder: Path) -> bool:
    """Whether a folder holds a finished run or an imported profile."""
    return is_finished(folder) or is_imported(folder)
