"""Calls side by side, in threads that do not keep the program alive."""

from __future__ import annotations

import queue
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Threads:
    """A fixed number of calls at a time; a thread that never returns is abandoned when the program ends."""

    def __init__(self, count: int) -> None:
        self._left = count
        self._calls: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        """Call a function as soon as a thread is free."""
        future: Future[Any] = Future()
        self._calls.put((future, call))
        if self._left:
            self._left -= 1
            threading.Thread(target=self._work, daemon=True).start()
        return future

    def close(self) -> None:
        """Let the threads end after the submitted calls."""
        self._calls.put(None)

    def _work(self) -> None:
        while (next_ := self._calls.get()) is not None:
            future, call = next_
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(call())
                except BaseException as error:
                    future.set_exception(error)
        self._calls.put(None)  # For the next thread.
