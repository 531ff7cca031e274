"""Former names of workloads on the command line: read as the names of today, with a note."""

from __future__ import annotations

import os
from typing import TypeVar

from octavo.files.notes import note

Value = TypeVar("Value", str, list[str], None)


def read(value: Value) -> Value:
    """The same names, or lists of names with commas and plus signs, with no former one among them."""
    if value is None:
        return value
    if isinstance(value, str):
        return _names(value)
    return [_names(given) for given in value]


def _names(given: str) -> str:
    """Each name of `fir,mm` or `fir+mm`; what is a file or folder is none."""
    return ",".join("+".join(_today(name) for name in part.split("+")) for part in given.split(","))


def _today(given: str) -> str:
    name = given.strip()
    if not name or "/" in name or os.path.exists(name):  # noqa: PTH110 - no module for most commands
        return given
    from octavo.scenarios import catalogue  # noqa: PLC0415 - help does without the core

    today, why = catalogue.former_workloads().get(name, (given, ""))
    if why:
        note(f"workload `{name}` is read as `{today}`: {why}")
    return today
