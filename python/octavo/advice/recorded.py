"""Facts about the allocations of a program that ran with the interposer's record mode."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from octavo.advice import marked
from octavo.advice.facts import Buffer, Fact
from octavo.errors import AdviceError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octavo.advice.facts import Placement
    from octavo.advice.model import System

FORMAT = 1
"""Version of profiles; `crates/octavo-interpose/src/recorder.rs` writes it."""
NOTES = (
    "a recording tells no accesses: what is touched, how often, and by how many operations are assumed",
    "each buffer is one of those that a call site allocated with this size and that were copied alike; "
    "gains are of one",
)
FOLDER_FILE = "recording.json"
"""Its name in the folder of `octavo profile --buffers`; recordings of other processes have the process number before
the ending."""
_PATIENCE = 10.0
"""Seconds that looking up a line may take; chosen."""
_RECORDED = "calls of the program"
_PLACEMENTS: dict[str, Placement] = {"device": "device", "managed": "managed"}
"""Of the kinds that are advised on: pinned memory is where copies begin and end."""


def is_recording(path: Path) -> bool:
    """Whether a path is a profile of the record mode, by its name."""
    return path.suffix == ".json" and path.is_file()


def in_folder(folder: Path) -> list[Path]:
    """Recordings in the folder of a program that was sampled; none without `--buffers`."""
    name = Path(FOLDER_FILE)
    return sorted(folder.glob(f"{name.stem}*{name.suffix}"))


def of_sampled(folder: Path) -> Path | None:
    """The recording in the folder of a program that was sampled; none without `--buffers`.

    Raises:
        AdviceError: it has recordings of several processes.

    """
    found = in_folder(folder)
    if len(found) > 1:
        raise AdviceError(
            f"{folder}: expected the recording of one process, found {len(found)}: "
            f"{', '.join(each.name for each in found)}",
            f"name one of them: octavo advise {found[0]}",
        )
    return found[0] if found else None


def read(path: Path) -> dict[str, Any]:
    """A profile.

    Raises:
        AdviceError: it cannot be read, is none, or is of another format.

    """
    found = marked.read(path, "octavo_profile", "a profile of the record mode")
    if found["octavo_profile"] != FORMAT:
        raise AdviceError(f"{path}: expected a profile of format {FORMAT}, found {found['octavo_profile']}")
    return found


@dataclass(frozen=True)
class Site:
    """Where the allocations of one buffer come from."""

    call: str
    """The function that the program calls."""
    frames: tuple[tuple[str, int], ...]
    """File and offset of each caller, nearest first."""
    orders: tuple[int, ...] | None
    """Which allocations of this place, call and size, 0 for the first; all of them if none is said."""


@dataclass(frozen=True)
class Recording:
    """What a profile tells of the memory that a program allocated."""

    program: tuple[str, ...]
    buffers: list[Buffer]
    sites: list[Site]
    """Call sites of each buffer."""
    rows: list[list[dict[str, Any]]]
    """Its allocations, as recorded."""


def recording(path: Path, system: System) -> Recording:
    """A profile by buffers: allocations of one call site and size that are copied alike.

    Raises:
        AdviceError: it cannot be read, is damaged, or has no allocations of device or managed memory.

    """
    profile = read(path)
    try:
        groups = _groups(profile)
        names = _names([_place(profile["sites"][rows[0]["site"]]) for rows in groups.values()])
        buffers = [
            _buffer(name, key.kind, key.bytes, rows, system)
            for name, (key, rows) in zip(names, groups.items(), strict=True)
        ]
        found = Recording(
            tuple(map(str, profile.get("program", []))), buffers, _sites(profile, groups), list(groups.values())
        )
    except (KeyError, TypeError, IndexError, AttributeError, ValueError, ArithmeticError) as error:
        raise AdviceError(f"{path}: damaged: {type(error).__name__} {error}", "record it again") from None
    if not buffers:
        raise AdviceError(f"{path}: expected allocations of device or managed memory, found none")
    return found


class _Key(NamedTuple):
    """What allocations of one buffer have in common."""

    callers: tuple[tuple[str, int], ...]
    """Callers as `_callers` tells them apart."""
    call: str
    bytes: int
    kind: str
    ways: tuple[bool, bool]
    """Whether they are copied in, and out."""


def _groups(profile: Mapping[str, Any]) -> dict[_Key, list[dict[str, Any]]]:
    """Allocations by buffer, each with its `order` among allocations of the same place, call and size."""
    groups: dict[_Key, list[dict[str, Any]]] = defaultdict(list)
    made: dict[tuple[object, ...], int] = defaultdict(int)
    for each in profile["allocations"]:
        if each["kind"] not in _PLACEMENTS or each["bytes"] <= 0:
            continue
        place = _callers(_frames(profile, each)), str(each["call"]), int(each["bytes"])
        ways = each["copied_in"]["bytes"] > 0, each["copied_out"]["bytes"] > 0
        groups[_Key(*place, each["kind"], ways)].append({**each, "order": made[place]})
        made[place] += 1
    return groups


def _frames(profile: Mapping[str, Any], allocation: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
    return tuple((str(frame["module"]), int(frame["offset"])) for frame in profile["sites"][allocation["site"]])


def _callers(frames: Sequence[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """Callers as `crates/octavo-interpose/src/apply/placement.rs` tells them apart.

    Files are known by their names, wherever they lie; code without a file has no address that stays.
    """
    names = ((module.rpartition("/")[2], offset) for module, offset in frames)
    return tuple((name, offset if name else 0) for name, offset in names)


def _sites(profile: Mapping[str, Any], groups: Mapping[_Key, Sequence[Mapping[str, Any]]]) -> list[Site]:
    alike = Counter(key[:3] for key in groups)
    return [
        Site(key.call, _frames(profile, rows[0]), None if alike[key[:3]] == 1 else tuple(row["order"] for row in rows))
        for key, rows in groups.items()
    ]


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
    if program is None:
        return None
    try:
        if not Path(module).is_file():
            return None
        command = [program, "-e", module, hex(offset - 1)]  # A return address points behind the call.
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
    back = -(-outwards // system.page)
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
        "prefetches": Fact.exact(0.0, "assumed", "no faults were recorded"),
        "stale_faults": Fact.exact(0.0, "assumed", "no faults were recorded"),
        "fault_runs": Fact.between(1.0, pages * comes, pages * comes, "assumed", "no faults were recorded"),
        "host_faults": Fact.between(1.0, pages, pages, "assumed", "no faults were recorded"),
        "returned": Fact.exact(outwards, "estimated", "what is copied out would come back by faults"),
        "return_faults": Fact.between(0.0, back, back, "assumed", "no faults were recorded"),
        "return_prefetches": Fact.exact(0.0, "assumed", "no faults were recorded"),
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
