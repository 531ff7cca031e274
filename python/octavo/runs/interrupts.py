"""Ctrl-C and SIGTERM as flags to check, so that they never interrupt starting or stopping threads.

SIGTERM is what schedulers of batch jobs and `kill` send. Commands treat it like Ctrl-C; Python alone would simply end.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

INTERRUPTED = 130
"""Exit status of a command that Ctrl-C ended, in the numbering of shells: 128 plus the signal's number."""
TERMINATED = 143
"""The same for SIGTERM."""
_RECEIVED: set[int] = set()
"""Signals that act like Ctrl-C."""


@dataclass(frozen=True)
class Struck:
    """Whether Ctrl-C or SIGTERM came, and whether one came again, which means: do not wait."""

    once: threading.Event = field(default_factory=threading.Event)
    again: threading.Event = field(default_factory=threading.Event)


def take_sigterm() -> None:
    """From now on SIGTERM acts like Ctrl-C in this process, unless someone else handles or ignores it."""
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminate)


def was_terminated() -> bool:
    """Whether SIGTERM stopped this process."""
    return signal.SIGTERM in _RECEIVED


def _terminate(number: int, _frame: FrameType | None) -> None:
    _RECEIVED.add(number)
    raise KeyboardInterrupt


@contextlib.contextmanager
def noted() -> Iterator[Struck]:
    """Record Ctrl-C and SIGTERM instead of raising `KeyboardInterrupt`.

    Python raises only in the main thread, and a handler of the user's stays: then nothing is recorded.
    """
    struck = Struck()
    ours = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: _terminate}
    main = threading.current_thread() is threading.main_thread()
    taken = {number: usual for number, usual in ours.items() if main and signal.getsignal(number) is usual}

    def note(number: int, _frame: FrameType | None) -> None:
        _RECEIVED.add(number)
        (struck.again if struck.once.is_set() else struck.once).set()

    for number in taken:
        signal.signal(number, note)
    try:
        yield struck
    finally:
        for number, usual in taken.items():
            signal.signal(number, usual)
