"""The explanation of a result in Python: `result.explain(...)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.explain.explanation import explain
from octavo.runs.progress import told

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from octavo.explain.explanation import Explanation
    from octavo.runs.execute import Progress
    from octavo.runs.result import RunResult


def of_run(
    result: RunResult,
    *,
    what_if: str | Path | None = None,
    replicates: int = 1,
    workers: int | None = None,
    watch: Callable[[Progress], None] | bool | None = None,
) -> Explanation:
    """Say what bound the run, which buffers and pairs cause it, and what would help.

    Args:
        result: the run.
        what_if: a folder in which the scenario runs with one thing changed at a time; each run is kept. Nothing is
            tried if left out.
        replicates: how often the run and each change are run, with start times of GPUs and the order among equals
            changed; changes whose interval overlaps that of the run are ties.
        workers: runs side by side; all cores if left out.
        watch: called about ten times a second with how far these runs are; `True` shows it.

    Raises:
        OutputError: the run had no time, is the profile of a real program, or the folder cannot be written.
        InterruptedRun: Ctrl-C; what is finished is kept.

    """
    with told(watch) as tell:
        return explain(result, what_if=what_if, replicates=replicates, workers=workers, watch=tell)
