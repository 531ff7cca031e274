"""Facts about the allocations of a program that ran with the interposer's record mode."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo.advice.facts import Buffer, Fact
from octavo.errors import AdviceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.advice.facts import Placement
    from octavo.advice.model import System

FORMAT = 1
"""Of profiles; `crates/octavo-interpose/src/recorder.rs` writes it."""
NOTES = (
    "a recording tells no accesses: what is touched, how often, and by how many operations are assumed",
    "each buffer is one of those that a call site allocated with this size; gains are of one",
)
_PATIENCE = 10.0
"""Seconds that looking up a line may take; chosen."""
_RECORDED = "calls of the program"
_PLACEMENTS: dict[str, Placement] = {"device": "device", "managed": "managed"}
"""Of the kinds that are advised on: pinned memory is where copies begin and end."""


def is_recording(path: Path) -> bool:
    """Whether a path is a profile of the record mode, by its name."""
    return path.suffix == ".json" and path.is_file()


def read(path: Path) -> dict[str, Any]:
    """A profile.

    Raises:
        AdviceError: it cannot be read, is none, or is of another format.

    """
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise AdviceError(f"{path}: expected a profile of the record mode, found no JSON ({error})") from None
    if not isinstance(found, dict) or "octavo_profile" not in found:
        raise AdviceError(f"{path}: expected a profile of the record mode, found no key `octavo_profile`")
    if found["octavo_profile"] != FORMAT:
        raise AdviceError(f"{path}: expected a profile of format {FORMAT}, found {found['octavo_profile']}")
    return found


def buffers(path: Path, system: System) -> list[Buffer]:
    """What a profile tells of the memory that a program allocated, by call site and size.

    Raises:
        AdviceError: it cannot be read, is damaged, or has no allocations of device or managed memory.

    """
    profile = read(path)
    groups: dict[tuple[int, str, int], list[dict[str, Any]]] = defaultdict(list)
    try:
        for each in profile["allocations"]:
            if each["kind"] in _PLACEMENTS and each["bytes"] > 0:
                groups[each["site"], each["kind"], each["bytes"]].append(each)
        names = _names([_place(profile["sites"][site]) for site, _, _ in groups])
        found = [
            _buffer(name, kind, size, rows, system)
            for name, ((_, kind, size), rows) in zip(names, groups.items(), strict=True)
        ]
    except (KeyError, TypeError, IndexError, AttributeError, ValueError, ArithmeticError) as error:
        raise AdviceError(f"{path}: damaged: {type(error).__name__} {error}", "record it again") from None
    if not found:
        raise AdviceError(f"{path}: expected allocations of device or managed memory, found none")
    return found


def _place(frames: Sequence[dict[str, Any]]) -> str:
    """The nearest caller with a line in debug information, or else the nearest one: file and offset."""
    if not frames:
        return "unknown"
    lines = (_line(frame["module"], int(frame["offset"])) for frame in frames)
    nearest = frames[0]
    return next((line for line in lines if line), f"{Path(nearest['module']).name}+{nearest['offset']:#x}")


@cache
def _line(module: str, offset: int) -> str | None:
    """The line of a call, by `addr2line` of binutils; none without it, or without debug information."""
    program = shutil.which("addr2line")
    if program is None or not Path(module).is_file():
        return None
    try:
        command = [program, "-e", module, hex(offset - 1)]  # A return address is that of what follows the call.
        said = subprocess.run(  # noqa: S603 - a tool of the system, and a file that exists
            command, capture_output=True, text=True, check=False, timeout=_PATIENCE
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    file, _, line = said.split(" ")[0].strip().rpartition(":")
    return f"{Path(file).name}:{line}" if line.isdigit() and int(line) else None


def _names(places: Sequence[str]) -> list[str]:
    """Each name once: sites that differ further away get a number, in the order of their first allocation."""
    seen: dict[str, int] = defaultdict(int)
    names = []
    for place in places:
        seen[place] += 1
        names.append(place if seen[place] == 1 else f"{place} #{seen[place]}")
    return names


def _buffer(name: str, kind: str, size: int, rows: Sequence[dict[str, Any]], system: System) -> Buffer:
    pages = -(-size // system.page)

    def mean(way: str, what: str) -> float:
        return float(sum(row[way][what] for row in rows)) / len(rows)

    inwards, outwards = mean("copied_in", "bytes"), mean("copied_out", "bytes")
    comes = max(inwards / size, 1.0)
    again = "what is copied in, over its size: the host writes it between launches"
    unknown = "a recording tells no accesses"
    facts = {
        "used": Fact.between(1 / pages, 1.0, 1.0, "assumed", unknown),
        "sigma": Fact.between(1 / pages, 1.0, 1.0, "assumed", unknown),
        "rho": Fact.between(1.0, comes, comes, "estimated", again),
        "alpha": Fact.between(0.25, 1.0, 64.0, "assumed", unknown),
        "occupancy": Fact.between(0.1, 0.5, 1.0, "assumed", unknown),
        "lines": Fact.exact(size, "assumed", unknown),
        "concurrency": Fact.between(1.0, 1.0, float(system.most_faults), "assumed", "no faults were recorded"),
        "faults": Fact.between(1.0, pages * comes, pages * comes, "assumed", "every page that comes, at most"),
        "copied_in": Fact.exact(inwards, "recorded", _RECORDED),
        "copied_out": Fact.exact(outwards, "recorded", _RECORDED),
        "host_faults": Fact.between(1.0, pages, pages, "assumed", "no faults were recorded"),
        "thrashing": Fact.exact(0.0, "assumed", "no faults were recorded"),
        "copies": Fact.exact(mean("copied_in", "calls") + mean("copied_out", "calls"), "recorded", _RECORDED),
    }
    return Buffer(
        name=name,
        size=size,
        present=_PLACEMENTS[kind],
        first="host" if inwards else "device",
        write_shared=False,
        can_pin=False,
        facts=facts,
    )
