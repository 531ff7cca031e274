"""Ctrl-C and SIGTERM as something to look at, so that they never strike in the middle of starting or stopping threads.

SIGTERM is what schedulers of batch jobs and `kill` send. Commands take it as Ctrl-C; Python alone would just end.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

INTERRUPTED = 130
"""Exit status of a command that Ctrl-C ended, as shells have it: 128 and the signal's number."""
TERMINATED = 143
"""The same for SIGTERM."""
_RECEIVED: set[int] = set()
"""Signals that were taken as Ctrl-C."""


def take_sigterm() -> None:
    """From now on SIGTERM is as Ctrl-C in this process, unless somebody else takes it or ignores it."""
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminate)


def was_terminated() -> bool:
    """Whether SIGTERM is what stopped this process."""
    return signal.SIGTERM in _RECEIVED


def _terminate(number: int, _frame: FrameType | None) -> None:
    _RECEIVED.add(number)
    raise KeyboardInterrupt


@contextlib.contextmanager
def noted() -> Iterator[threading.Event]:
    """Set the event at Ctrl-C in place of raising `KeyboardInterrupt`, which only a second one does; so at SIGTERM.

    Python raises only in the main thread, and a handler of the user's own stays: then the event is never set.
    """
    struck = threading.Event()
    ours = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: _terminate}
    main = threading.current_thread() is threading.main_thread()
    taken = {number: usual for number, usual in ours.items() if main and signal.getsignal(number) is usual}

    def note(number: int, frame: FrameType | None) -> None:
        if struck.is_set():  # A second one means: do not wait.
            taken[signal.Signals(number)](number, frame)
        struck.set()
        _RECEIVED.add(number)

    for number in taken:
        signal.signal(number, note)
    try:
        yield struck
    finally:
        for number, usual in taken.items():
            signal.signal(number, usual)
