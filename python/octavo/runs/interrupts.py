"""Ctrl-C as something to look at, so that it never strikes in the middle of starting or stopping threads."""

from __future__ import annotations

import contextlib
import signal
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Struck:
    """Whether Ctrl-C struck, and whether it did so again, which means: do not wait."""

    once: threading.Event = field(default_factory=threading.Event)
    again: threading.Event = field(default_factory=threading.Event)


@contextlib.contextmanager
def noted() -> Iterator[Struck]:
    """Note Ctrl-C in place of raising `KeyboardInterrupt`.

    Python raises only in the main thread, and a handler of the user's own stays: then nothing is noted.
    """
    struck = Struck()
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield struck
        return

    def note(*_: object) -> None:
        (struck.again if struck.once.is_set() else struck.once).set()

    signal.signal(signal.SIGINT, note)
    try:
        yield struck
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
