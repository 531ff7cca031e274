"""Points in processes on this machine: one that crashes takes down only its own point."""

from __future__ import annotations

import queue
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import octavo._core as _core
from octavo.isolation.errors import explained
from octavo.isolation.process import Wish
from octavo.runs import memory, single
from octavo.sweeps.crew import Ended, arrived

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octavo.isolation.process import Process
    from octavo.sweeps.crew import Job


class Processes:
    """As many processes as there are slots, started when first needed, each with a thread that listens to it."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._memory = memory.whole()
        self._memory_limit = memory.part(self._memory, slots)
        self._wish = Wish.GO_ON
        self._idle: list[Process] = []
        self._shares: dict[str, float] = {}
        self._ended: queue.SimpleQueue[Ended] = queue.SimpleQueue()
        self._threads = ThreadPoolExecutor(max_workers=slots)

    def expect(self, jobs: int) -> None:
        """Divide among this many jobs the memory that was free before any process started."""
        self._memory_limit = memory.part(self._memory, min(self.slots, jobs))

    def start(self, job: Job) -> None:
        """Begin a job in an idle process, or in a new one."""
        self._shares[job.point.label] = 0.0
        self._threads.submit(self._see_through, job)

    def poll(self, seconds: float) -> list[Ended]:
        """Jobs that ended."""
        return arrived(self._ended, seconds)

    def shares(self) -> Mapping[str, float]:
        """How far each running point has got."""
        return dict(self._shares)

    def close(self) -> None:
        """End every process: results appear whole or not at all, so nothing is damaged."""
        self._wish = Wish.KILL
        self._threads.shutdown(cancel_futures=True)
        for worker in self._idle:
            worker.leave(self._wished)

    def _see_through(self, job: Job) -> None:
        try:
            error = self._run(job)
        except OSError as problem:
            error = f"cannot start a process: {problem}"
        self._shares.pop(job.point.label, None)
        self._ended.put(Ended(job, error))

    def _run(self, job: Job) -> str | None:
        order = single.Order(job.point.scenario, job.folder, single.Limits(self._memory_limit, job.time_limit))
        worker = self._idle.pop() if self._idle else single.worker()

        def report(share: float) -> None:
            self._shares[job.point.label] = share

        try:
            single.carry_out_in(worker, order, report, self._wished)
        except _core.OverTime:
            return None
        except BaseException as error:
            return explained(error)
        finally:
            self._part_with(worker, again=not job.point.scenario.python_strategies)
        return None

    def _wished(self) -> Wish:
        return self._wish

    def _part_with(self, worker: Process, *, again: bool) -> None:
        """Keep a process for the next job, unless it ended or ran user's code."""
        if again and worker.alive:
            self._idle.append(worker)
        else:
            worker.leave(self._wished)
