"""The output of `--dry-run`."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING

from octavo.errors import OutputError
from octavo.runs import trial
from octavo.runs.execute import default_workers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.cli.sink import Sink
    from octavo.runs.execute import Point
    from octavo.runs.trial import Estimate


def show(sink: Sink, points: Sequence[Point], workers: int | None, *, force: bool) -> None:
    """Try some of the runs, and report what all of them would need.

    Raises:
        OutputError: a folder holds something else, or there are no runs.

    """
    if not points:
        raise OutputError("there is nothing to run")
    found = trial.estimate(points, workers=workers or default_workers(), force=force)
    sink.document(asdict(found))
    sink.table("What it would take; nothing was written", ["measure", "value"], _rows(found))


def _rows(found: Estimate) -> list[tuple[str, str]]:
    cut = found.tried - found.ended
    rows = [
        ("runs", f"{found.runs}, of which {found.finished} are finished"),
        ("trials", f"{found.tried}, of which {cut} were cut off after {trial.TRIAL_SECONDS:g} s"),
    ]
    if found.tried == 0:
        return rows
    rows += [
        ("time", f"{_time(found.seconds)} with {found.workers} at a time"),
        ("memory of one run", "not known" if found.memory_bytes is None else _memory(*found.memory_bytes)),
        ("its estimate, for --memory-limit", _size(found.needed_bytes)),
        ("disk", f"{_size(found.disk_bytes)}; {_size(found.disk_free_bytes)} are free"),
    ]
    return rows


def _time(seconds: float | None) -> str:
    return "not known" if seconds is None else f"about {timedelta(seconds=max(round(seconds), 1))}"


def _memory(least: int, most: int) -> str:
    return _size(least) if most < 1.1 * least else f"{_size(least)} to {_size(most)}"


def _size(count: int | None) -> str:
    if count is None:
        return "not known"
    for bits, unit in ((30, "GiB"), (20, "MiB")):
        if count >= 1 << bits:
            return f"{count / (1 << bits):,.1f} {unit}"
    return f"{count / (1 << 10):,.1f} KiB"
