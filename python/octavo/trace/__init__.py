"""Recorded traces: opened, looked at, written. `docs/trace-format.md` says what they hold.

Examples:
    >>> trace = octavo.trace.open("traces/fir-length-16384.trace")
    >>> trace.info["total"]["load_lines"] > 0
    True

"""

from octavo.trace.converting import convert, formats
from octavo.trace.reading import Trace, open  # noqa: A004 - meant to be called as octavo.trace.open
from octavo.trace.recording import record
from octavo.trace.sealing import seal
from octavo.trace.steps import facts, record_torch
from octavo.trace.writing import write

__all__ = ["Trace", "convert", "facts", "formats", "open", "record", "record_torch", "seal", "write"]
