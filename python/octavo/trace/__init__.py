"""Recorded traces: opened, looked at, written. `docs/trace-format.md` says what they hold.

Examples:
    >>> trace = octavo.trace.open("traces/fir-length-16384.trace")
    >>> trace.info["total"]["load_lines"] > 0
    True

"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from octavo.trace.chakra import convert_chakra
    from octavo.trace.conversion import convert, formats
    from octavo.trace.reader import Trace, open  # noqa: A004 - meant to be called as octavo.trace.open
    from octavo.trace.recording import record
    from octavo.trace.seals import seal
    from octavo.trace.steps import facts, record_torch
    from octavo.trace.writer import write

__all__ = ["Trace", "convert", "convert_chakra", "facts", "formats", "open", "record", "record_torch", "seal", "write"]

# Imported when they are first used: a run checks its traces, and needs none of these.
_HOME_OF = {
    "Trace": "reader",
    "convert": "conversion",
    "convert_chakra": "chakra",
    "facts": "steps",
    "formats": "conversion",
    "open": "reader",
    "record": "recording",
    "record_torch": "steps",
    "seal": "seals",
    "write": "writer",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value
