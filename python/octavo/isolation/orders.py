"""A process of ours that works on orders, from its own side."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import queue
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from octavo.isolation import errors

if TYPE_CHECKING:
    from collections.abc import Callable


class Stopped:
    """Whether this process was asked to stop, which also raises `KeyboardInterrupt` in the middle of its work."""

    def __init__(self) -> None:
        self.wanted = False
        signal.signal(signal.SIGINT, self._note)

    def _note(self, *_: object) -> None:
        self.wanted = True
        raise KeyboardInterrupt


def serve(work: Callable[[dict[str, Any], Callable[[dict[str, Any]], None], Stopped], dict[str, Any]]) -> None:
    """Work on orders until there are no more; end at once when nobody waits for an answer any more.

    `work` gets an order, a function that reports something before the answer, and one that says whether to stop.
    """
    answers = os.fdopen(int(sys.argv[1]), "w", encoding="utf-8")
    faulthandler.enable(answers, all_threads=False)
    try:
        # From here on, who stops this process interrupts it.
        stopped, orders = Stopped(), _Orders()
        while not stopped.wanted and (order := orders.next()) is not None:
            try:
                answer = work(order, lambda said: _say(answers, said, last=False), stopped)
            except BaseException as error:
                answer = {"raised": errors.packed(error)}
            orders.done()
            with contextlib.suppress(OSError, ValueError):  # What was printed comes before the answer.
                sys.stdout.flush()
            _say(answers, answer, last=True)
    except KeyboardInterrupt:
        os._exit(1)


def _say(answers: TextIO, said: dict[str, Any], *, last: bool) -> None:
    try:
        answers.write(json.dumps({**said, "last": last}) + "\n")
        answers.flush()
    except BrokenPipeError:
        os._exit(1)


class _Orders:
    """Orders from standard input; code of the user's finds nothing there."""

    def __init__(self) -> None:
        self._input = os.dup(0)
        with Path(os.devnull).open() as nothing:
            os.dup2(nothing.fileno(), 0)
        for stream in (sys.stdout, sys.stderr):
            # Lines are written whole, also where PYTHONUNBUFFERED is set: both streams may go to one place.
            cast("Any", stream).reconfigure(
                encoding="utf-8", errors="backslashreplace", line_buffering=True, write_through=False
            )
        self._come: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._busy = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()

    def next(self) -> dict[str, Any] | None:
        """The next order; None if no more come."""
        return self._come.get()

    def done(self) -> None:
        """Nobody works on the last order any more."""
        self._busy.clear()

    def _listen(self) -> None:
        rest = b""
        while content := os.read(self._input, 1 << 16):  # No buffer, which could not be given up when Python ends.
            *lines, rest = (rest + content).split(b"\n")
            for line in lines:
                self._busy.set()
                self._come.put(json.loads(line))
        if self._busy.is_set():  # Who gave the order is gone, and the work may take for ever.
            os._exit(1)
        self._come.put(None)
