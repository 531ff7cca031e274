"""Messages about values name the option that was typed, not the key of the scenario behind it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from octavo.errors import ARGUMENTS

if TYPE_CHECKING:
    from collections.abc import Sequence


def as_typed(message: str, words: Sequence[str]) -> str:
    """A message that says `--scale -1` where the scenario was told `--set workload.scale=-1`."""
    found = re.match(r"--set ([\w.]+)=(.*?): (?=`)", message, re.DOTALL)
    option = ARGUMENTS.get(found[1]) if found else None
    if not found or not option or any(word.startswith(f"{found[1]}=") for word in words):
        return message
    if not any(word.split("=")[0] in {f"--{option}", f"-{option[0]}"} for word in words):
        return message
    return f"--{option} {found[2]}: {message[found.end() :]}"
