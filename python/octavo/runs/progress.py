"""Progress of long work on standard error: bars on a terminal, one line for each finished run elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from typing import TYPE_CHECKING

from octavo.plain import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from octavo.runs.execute import Progress


@contextmanager
def watching(*, quiet: bool, what: str = "runs") -> Iterator[Callable[[Progress], None]]:
    """A function for `watch`; `what` names the things that it counts, such as runs."""
    if quiet:
        yield lambda _: None
    elif sys.stderr.isatty():
        with _bars() as bars:
            yield _Display(bars, what).update
    else:
        yield _Lines().update


def told(watch: Callable[[Progress], None] | bool | None) -> AbstractContextManager[Callable[[Progress], None] | None]:
    """Interpret Python's `watch`: a function to call, or whether to show progress as the command line does."""
    return nullcontext(watch) if callable(watch) else watching(quiet=not watch)


def _bars() -> Bars:
    from rich import progress  # noqa: PLC0415 - only terminals show bars
    from rich.console import Console  # noqa: PLC0415 - as above

    columns = (
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
    )
    return progress.Progress(*columns, console=Console(stderr=True), transient=True)


class _Display:
    """One bar for all runs and one for each run in progress, in thousandths of a run."""

    def __init__(self, bars: Bars, what: str) -> None:
        self._bars = bars
        self._what = what
        self._all: TaskID | None = None
        self._running: dict[str, TaskID] = {}

    def update(self, progress: Progress) -> None:
        running = dict(progress.running)
        if self._all is None:  # What was finished before says nothing about how fast the rest will be.
            self._all = self._bars.add_task(f"all {self._what}", total=progress.total, completed=progress.kept)
        self._bars.update(self._all, completed=len(progress.done) + sum(running.values()))
        for label in self._running.keys() - running.keys():
            self._bars.remove_task(self._running.pop(label))
        for label, share in running.items():
            if label not in self._running:
                self._running[label] = self._bars.add_task(visible(label), total=100)
            self._bars.update(self._running[label], completed=int(100 * share))


class _Lines:
    """A line for each finished run, with the expected time of the others."""

    def __init__(self) -> None:
        self._said = 0
        self._began = time.monotonic()

    def update(self, progress: Progress) -> None:
        first = max(self._said, progress.kept)
        for number, label in enumerate(progress.done[first:], first + 1):
            self._said = number
            print(f"[{number}/{progress.total}] {visible(label)}{self._left(progress)}", file=sys.stderr, flush=True)

    def _left(self, progress: Progress) -> str:
        """The average time of the finished runs; runs that were finished before do not count."""
        computed, missing = len(progress.done) - progress.kept, progress.total - len(progress.done)
        if missing == 0 or computed <= 0:
            return ""
        seconds = round((time.monotonic() - self._began) / computed * missing)
        return f" (about {timedelta(seconds=seconds)} left)"
