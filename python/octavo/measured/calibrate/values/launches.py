"""Cost of launching a kernel."""

from __future__ import annotations

from octavo.measured.calibrate.fits import line, plain
from octavo.measured.calibrate.values.value import Value

_HOW = {"stream": "into a stream", "graph": "as nodes of a graph"}


def _values(how: str) -> list[Value]:
    each = f"each further empty launch in a row, {_HOW[how]}"
    first = f"what launching and waiting take beside the launches, {_HOW[how]}"
    alone = f"one empty launch {_HOW[how]} and the wait for its end"
    where = {"how": how}
    return [
        Value(f"launch_{how}", "s", "launches", "launch", each, line.CALLS, line.each_call, where),
        Value(f"launch_start_{how}", "s", "launches", "launch", first, line.CALLS, line.start_of_calls, where),
        Value(f"launch_wait_{how}", "s", "launches", "launch_wait", alone, plain.TIME, plain.seconds, where),
    ]


VALUES = [value for how in _HOW for value in _values(how)]
