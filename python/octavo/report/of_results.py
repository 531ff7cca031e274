"""Reports of results in Python: `result.report(...)` and `comparison.report(...)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.report import report

if TYPE_CHECKING:
    from pathlib import Path

    from octavo.report.file import ReportFile
    from octavo.runs.comparison import Comparison
    from octavo.runs.result import RunResult


def of_run(result: RunResult, output: str | Path) -> ReportFile:
    """Write a report of this run, one HTML file; errors as `octavo.report.report`."""
    return report([result.folder], output)


def of_comparison(comparison: Comparison, output: str | Path) -> ReportFile:
    """Write a report of all runs, one HTML file; errors as `octavo.report.report`."""
    return report([result.folder for result in comparison.results.values()], output)
