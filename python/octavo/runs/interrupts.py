"""Ctrl-C as something to look at, so that it never strikes in the middle of starting or stopping threads."""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


@contextlib.contextmanager
def noted() -> Iterator[threading.Event]:
    """Set the event at Ctrl-C in place of raising `KeyboardInterrupt`, which only a second one does.

    Python raises only in the main thread, and a handler of the user's own stays: then the event is never set.
    """
    struck = threading.Event()
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield struck
        return

    def note(number: int, frame: FrameType | None) -> None:
        if struck.is_set():  # A second Ctrl-C means: do not wait.
            signal.default_int_handler(number, frame)
        struck.set()

    signal.signal(signal.SIGINT, note)
    try:
        yield struck
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
