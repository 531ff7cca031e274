"""Points in processes on this machine: one that crashes takes its own point with it and no other."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from octavo.runs import memory
from octavo.sweeps.crew import Ended

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octavo.sweeps.crew import Job


class Processes:
    """As many processes as there are slots, started when first needed, each beside a thread that listens to it."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._memory = memory.whole()
        self._memory_limit = memory.part(self._memory, slots)
        self._closing = False
        self._idle: list[_Worker] = []
        self._alive: set[_Worker] = set()
        self._shares: dict[str, float] = {}
        self._ended: queue.SimpleQueue[Ended] = queue.SimpleQueue()
        self._threads = ThreadPoolExecutor(max_workers=slots)

    def expect(self, jobs: int) -> None:
        """Share among this many jobs the memory that there was before any process."""
        self._memory_limit = memory.part(self._memory, min(self.slots, jobs))

    def start(self, job: Job) -> None:
        """Begin a job in an idle process, or in a new one."""
        self._shares[job.point.label] = 0.0
        self._threads.submit(self._see_through, job)

    def poll(self, seconds: float) -> list[Ended]:
        """Jobs that ended."""
        ended: list[Ended] = []
        try:
            ended.append(self._ended.get(timeout=seconds))
            while True:
                ended.append(self._ended.get_nowait())
        except queue.Empty:
            return ended

    def shares(self) -> Mapping[str, float]:
        """How far each running point is."""
        return dict(self._shares)

    def close(self) -> None:
        """End every process."""
        self._closing = True
        for worker in list(self._alive):
            worker.end()
        self._threads.shutdown(cancel_futures=True)

    def _see_through(self, job: Job) -> None:
        try:
            error = self._run(job)
        except OSError as problem:
            error = f"cannot start a process: {problem}"
        self._shares.pop(job.point.label, None)
        self._ended.put(Ended(job, error))

    def _run(self, job: Job) -> str | None:
        worker = self._idle.pop() if self._idle else self._new()
        error = worker.run(job, self._shares, self._memory_limit)
        if worker.usable:
            self._idle.append(worker)
        else:
            self._alive.discard(worker)
        return error

    def _new(self) -> _Worker:
        worker = _Worker()
        self._alive.add(worker)
        if self._closing:  # Too late to be found by `close`.
            worker.end()
        return worker


class _Worker:
    """One process; Ctrl-C does not reach it, so that its end is decided here."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "octavo.sweeps.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )
        self.usable = True

    def run(self, job: Job, shares: dict[str, float], memory_limit: int | None) -> str | None:
        """Run a job to its end; what went wrong, if anything."""
        assert self._process.stdin is not None  # noqa: S101 - for the type checker
        assert self._process.stdout is not None  # noqa: S101
        order = {
            "scenario": job.point.scenario.toml,
            "folder": str(job.folder.absolute()),
            "memory_limit": memory_limit,
            "time_limit": job.time_limit,
        }
        try:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            for line in self._process.stdout:
                answer = json.loads(line)
                if "share" not in answer:
                    return None if answer["error"] is None else str(answer["error"])
                shares[job.point.label] = answer["share"]
        except (OSError, ValueError):
            pass  # The process is gone, perhaps in the middle of a line.
        self.usable = False
        return _cause_of_death(self._process.wait())

    def end(self) -> None:
        """Kill the process; results appear whole or not at all, so nothing is damaged."""
        self._process.kill()
        self._process.wait()


def _cause_of_death(status: int) -> str:
    if status == memory.NO_MORE_STATUS:
        return memory.NO_MORE
    if status >= 0:
        return f"its process ended with status {status}"
    hint = ", perhaps for lack of memory" if -status == signal.SIGKILL else ""
    return f"its process was ended by {signal.Signals(-status).name}{hint}"
