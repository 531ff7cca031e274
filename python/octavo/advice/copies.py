"""What a program copies and reads again between launches, buffer by buffer, from its actions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ON_HOST = "@host"
"""What a program calls the memory on the host beside a device buffer."""


@dataclass
class Copies:
    """What device placement of one buffer copies."""

    into: int = 0
    out: int = 0
    calls: int = 0
    first_by_host: bool = False
    writes_between: int = 0
    round_trips: Counter[int] = field(default_factory=Counter)
    """Bytes that the host reads or writes between launches, by the launch that comes next: the larger of the two."""


def copies_of(actions: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, Copies]:
    """What the program copies to and from each buffer if all lie in device memory."""
    found = {name: Copies() for name in names}
    launches = 0
    between: dict[str, Counter[int]] = {name: Counter() for name in names}
    ends = sum(action["action"] == "launch" for action in actions)
    for action in actions:
        launches += action["action"] == "launch"
        if action["action"] != "copy":
            continue
        source, target = action["buffers"]
        inwards = source.endswith(_ON_HOST) and target in found
        name = target if inwards else source
        copies = found[name]
        copies.calls += 1
        copies.into += action["bytes"] if inwards else 0
        copies.out += 0 if inwards else action["bytes"]
        if inwards and launches == 0:
            copies.first_by_host = True
        elif launches < ends or inwards:
            copies.writes_between += inwards
            between[name][launches] = max(between[name][launches], action["bytes"])
    for name, trips in between.items():
        found[name].round_trips = trips
    return found


def read_again(actions: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, int]:
    """Ranges that the host reads of its own copy, as nothing came back before: pages that the device has had."""
    found = dict.fromkeys(names, 0)
    copied: set[str] = set()
    launched = False
    for action in actions:
        launched |= action["action"] == "launch"
        if action["action"] == "copy":
            copied.add(action["buffers"][0])
        elif action["action"] == "launch":
            copied.clear()
        elif action["action"] == "host" and launched and "reads" in action["what"]:
            for each in action["buffers"]:
                name = each.removesuffix(_ON_HOST)
                if each.endswith(_ON_HOST) and name in found and name not in copied:
                    found[name] += 1
    return found
