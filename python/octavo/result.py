"""What a run leaves behind: a summary and tables."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.errors import OutputError
from octavo.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd

SCENARIO_FILE = "scenario.toml"
SUMMARY_FILE = "summary.json"


@dataclass(frozen=True)
class RunResult:
    """One finished run, read from its folder when asked for."""

    folder: Path

    @classmethod
    def load(cls, folder: str | Path) -> RunResult:
        """Open a finished result.

        Raises:
            OutputError: the folder holds no finished result.

        """
        folder = Path(folder)
        if not is_finished(folder):
            raise OutputError(f"{folder} holds no finished result", f"a result has {SCENARIO_FILE} and {SUMMARY_FILE}")
        return cls(folder)

    @property
    def scenario(self) -> Scenario:
        """What was run."""
        return Scenario((self.folder / SCENARIO_FILE).read_text(encoding="utf-8"))

    @property
    def summary(self) -> dict[str, Any]:
        """Totals; times are picoseconds of simulated time."""
        summary: dict[str, Any] = json.loads((self.folder / SUMMARY_FILE).read_text(encoding="utf-8"))
        return summary

    @property
    def seconds(self) -> float:
        """Simulated time from the first launch to the end of the last kernel."""
        return float(self.summary["time_ps"]) * 1e-12

    @property
    def tables(self) -> list[str]:
        """Names of the tables."""
        return sorted(path.stem for path in self.folder.glob("*.parquet"))

    def table(self, name: str) -> pl.DataFrame:
        """One table as a polars frame.

        Raises:
            OutputError: there is no such table.

        """
        path = self.folder / f"{name}.parquet"
        if not path.is_file():
            raise OutputError(f"no table `{name}` in {self.folder}", f"tables: {', '.join(self.tables)}")
        return pl.read_parquet(path)

    def to_pandas(self, name: str) -> pd.DataFrame:
        """One table as a pandas frame; needs pandas and pyarrow."""
        return self.table(name).to_pandas()


def is_finished(folder: Path) -> bool:
    """Whether a folder holds a finished result: results appear under their name only when they are whole."""
    return (folder / SCENARIO_FILE).is_file() and (folder / SUMMARY_FILE).is_file()
