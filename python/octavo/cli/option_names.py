"""Messages about values name the option that was typed, not the key of the scenario behind it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from octavo.errors import ARGUMENTS

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHORT = {"workload": "-w", "scale": "-s", "node": "-n", "placement": "-p", "kind": "-k"}
"""Options that have a short name."""
_ALSO = {"node": "--machine"}
"""Other names of options of `octavo advise`."""


def as_typed(message: str, words: Sequence[str]) -> str:
    """A message that says `--scale -1` where the scenario got `--set workload.scale=-1`."""
    found = re.match(r"--set ([\w.]+)=(.*?): (?=`)", message, re.DOTALL)
    name = ARGUMENTS.get(found[1]) if found else None
    if not found or not name:
        return message
    own = list(words[: words.index("--")]) if "--" in words else list(words)
    if any(word.removeprefix("--set=") == f"{found[1]}={found[2]}" for word in own):
        return message
    if option := _typed(name, own):
        return f"{option} {found[2]}: {message[found.end() :]}"
    # Typed without an option, as the workload of `octavo advise`.
    return message[found.end() :] if found[2] in own else message


def _typed(name: str, words: Sequence[str]) -> str | None:
    """The long name of an option if it was typed, under any of its names; `-s-1` is `-s` with its value."""
    long = [word.partition("=")[0] for word in words]
    if (also := _ALSO.get(name)) in long:
        return also
    short = _SHORT.get(name)
    there = f"--{name}" in long or (short is not None and any(word.startswith(short) for word in words))
    return f"--{name}" if there else None
