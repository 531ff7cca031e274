"""Facts about the allocations of a program that ran with the interposer's record mode."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import cache
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from octavo.advice import copies, moments
from octavo.advice.facts import BLOCK, Buffer, Fact, ahead, swept
from octavo.advice.model import moved_alone
from octavo.errors import AdviceError
from octavo.files.text import read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from octavo.advice.facts import Placement
    from octavo.advice.model import Penalty, System
    from octavo.advice.moments import Moves
    from octavo.advice.systems import SystemConstants

FORMATS = (1, 2)
"""Versions of profiles; `crates/octavo-interpose/src/recorder` writes the last. The first version has no steps."""
NOTES = (
    "a recording tells no accesses: kernels are taken to touch all of a buffer in order, and the host to write managed "
    "memory once before",
    "each buffer is one of those that a call site allocated with this size and that were copied alike; "
    "gains are of one",
)
_SEEN = (
    "launches, and the memory that they use, copies of device memory, and the host's touches of managed memory were "
    "recorded; gains are of all allocations of a call site under octavo apply"
)
FOLDER_FILE = "recording.json"
"""Its name in the folder of `octavo profile --buffers`; recordings of other processes have the process number before
the ending."""
_PATIENCE = 10.0
"""Seconds that looking up a line may take; our choice."""
_RECORDED = "calls of the program"
_DENSE = "every page is touched in order: the driver's tree goes ahead"
_FETCHED = BLOCK // swept(BLOCK // 4096)
"""Bytes that a fault brings, where a block of 2 MiB is swept."""
_LEAF = 16
"""Pages of 4 KiB that each fault brings at least if the host's pages are small (`docs/advise.md`)."""
_PLACEMENTS: dict[str, Placement] = {"device": "device", "managed": "managed"}
"""Kinds that get advice: pinned memory is where copies begin and end."""

_MOST_LAUNCHES = 4096
"""The recorder times at most this many (`crates/octavo-interpose/src/recorder/times.rs`)."""
_MOST_BYTES = 1 << 30
"""Our choice: a recording of a long program has a hundredth of it."""


def is_recording(path: Path) -> bool:
    """Whether a path is a profile of the record mode, by its name."""
    return path.suffix == ".json" and path.is_file()


def in_folder(folder: Path) -> list[Path]:
    """Recordings in the folder of a program that was sampled; none without `--buffers`."""
    name = Path(FOLDER_FILE)
    return sorted(folder.glob(f"{name.stem}*{name.suffix}"))


def meant(path: Path) -> Path:
    """The recording in the folder of a program that was sampled and recorded at once; any other path as it is.

    Raises:
        AdviceError: it has recordings of several processes.

    """
    return (of_sampled(path) if path.is_dir() else None) or path


def notes(found: Recording, *, joined: bool) -> tuple[str, ...]:
    """Notes about advice on a recording, which may be joined to a profile."""
    seen = [buffer.known is not None for buffer in found.buffers]
    told = NOTES if not joined else NOTES[1:]
    return (*(told if not all(seen) else ()), *((_SEEN,) if any(seen) else ()), *found.unseen)


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
            code="unexpected-value",
            file=folder,
            found=len(found),
        )
    return found[0] if found else None


def read(path: Path) -> dict[str, Any]:
    """A profile.

    Raises:
        AdviceError: it cannot be read, is none, or is of another format.

    """
    found = read_marked(path, "octavo_profile", "a profile of the record mode")
    if found["octavo_profile"] not in FORMATS:
        formats = " or ".join(map(str, FORMATS))
        raise AdviceError(
            f"{path}: expected a profile of format {formats}, found {found['octavo_profile']}",
            code="other-format",
            file=path,
            expected=formats,
            found=found["octavo_profile"],
        )
    return found


@dataclass(frozen=True)
class Site:
    """Where the allocations of one buffer come from."""

    call: str
    """The function that the program calls."""
    frames: tuple[tuple[str, int], ...]
    """File and offset of each caller, nearest first."""
    orders: tuple[int, ...] | None
    """Which allocations of this place, call and size are meant, 0 for the first; all of them if none is named."""


@dataclass(frozen=True)
class Recording:
    """The contents of a profile about the memory that a program allocated."""

    program: tuple[str, ...]
    buffers: list[Buffer]
    sites: list[Site]
    """Call sites of each buffer."""
    rows: list[list[dict[str, Any]]]
    """Its allocations, as recorded."""
    seconds: float
    """From the start of the recording to the end of the process."""
    moves: list[Moves | None]
    """When the memory of each buffer can move; none if its pages were not observed."""
    launches: dict[str, Any]
    """Kernels and the times of their first launches, as a placement file has them."""
    unseen: tuple[str, ...]
    """What the recording could not see."""
    profile: Mapping[str, Any]
    """All of it, as read."""

    def copied_at(self, buffer: int) -> list[str]:
        """Where large copies of a buffer were called, in order."""
        numbers = {row["number"] for row in self.rows[buffer]}
        copied = (step for step in self.profile.get("steps", ()) if step["step"] == "copied")
        sites = (step.get("site") for step in copied if {step["to"], step["from"]} & numbers)
        found = dict.fromkeys(site for site in sites if site is not None)
        return list(dict.fromkeys(_place(self.profile["sites"][site]) for site in found))


def recording(path: Path, constants: SystemConstants) -> Recording:
    """A profile by buffers: allocations of one size, from one call site, that are copied in the same way.

    Raises:
        AdviceError: it cannot be read, is damaged, or has no allocations of device or managed memory.

    """
    profile, system = read(path), constants.system
    try:
        groups = _groups(profile)
        moves = _moves(profile, groups, constants)
        names = _names([_place(profile["sites"][rows[0]["site"]]) for rows in groups.values()])
        copied = copies.known(profile, constants) if profile.get("steps") else {}
        buffers = [
            _copied_by_host(_moving(_buffer(name, key.kind, key.bytes, rows, system), found), rows, copied)
            for name, (key, rows), found in zip(names, groups.items(), moves, strict=True)
        ]
        found = Recording(
            tuple(map(str, profile.get("program", []))),
            buffers,
            _sites(profile, groups),
            list(groups.values()),
            profile["time_ns"] * 1e-9 if "time_ns" in profile else inf,
            moves,
            _launches(profile),
            tuple(unseen(profile)),
            profile,
        )
    except (KeyError, TypeError, IndexError, AttributeError, ValueError, ArithmeticError) as error:
        raise AdviceError(
            f"{path}: damaged: {type(error).__name__} {error}", "record it again", code="damaged", file=path
        ) from None
    if not buffers:
        raise AdviceError(
            f"{path}: expected allocations of device or managed memory, found none", code="missing", file=path
        )
    return found


class _Key(NamedTuple):
    """What the allocations of one buffer have in common."""

    callers: tuple[tuple[str, int], ...]
    """The callers that `_callers` distinguishes."""
    call: str
    bytes: int
    kind: str
    ways: tuple[bool, bool]
    """Whether they are copied in, and out."""


def _groups(profile: Mapping[str, Any]) -> dict[_Key, list[dict[str, Any]]]:
    """Allocations by buffer, each with its `order` among allocations of the same place, call and size."""
    groups: dict[_Key, list[dict[str, Any]]] = defaultdict(list)
    made: dict[tuple[object, ...], int] = defaultdict(int)
    for number, each in enumerate(profile["allocations"]):
        if each["kind"] not in _PLACEMENTS or each["bytes"] <= 0:
            continue
        place = _callers(_frames(profile, each)), str(each["call"]), int(each["bytes"])
        ways = each["copied_in"]["bytes"] > 0, each["copied_out"]["bytes"] > 0
        groups[_Key(*place, each["kind"], ways)].append({**each, "order": made[place], "number": number})
        made[place] += 1
    return groups


def _moves(
    profile: Mapping[str, Any], groups: Mapping[_Key, Sequence[Mapping[str, Any]]], constants: SystemConstants
) -> list[Moves | None]:
    """When the memory of each group can move; none if it was not observed."""
    if not profile.get("steps"):
        return [None] * len(groups)
    each = moments.moves(profile, constants)
    known = ([each[row["number"]] for row in rows if row["number"] in each] for rows in groups.values())
    return [moments.together(found) if found else None for found in known]


def _moving(buffer: Buffer, moves: Moves | None) -> Buffer:
    """A buffer for which the recording gives the cost and the gain of moves."""
    if moves is None:
        return buffer
    now = moved_alone(faults=moves.faults, returned=moves.returned)
    then = moved_alone(returned=moves.returned_left, prefetches=moves.moving)
    facts = {
        "faults": Fact.exact(-(-moves.came // _FETCHED), "estimated", "what came, as the driver's tree goes ahead"),
        "returned": Fact.exact(moves.went_back, "recorded", "pages that the host had mapped again"),
        "ahead_calls": Fact.exact(moves.calls, "recorded", "launches that use it after the host touched it"),
    }
    return replace(
        buffer.knowing(facts),
        first="host" if moves.host_first else "device",
        known={"managed": now, "prefetched": then},
        exchanged=moves.host_touches_again and not moves.read_mostly,
    )


def _copied_by_host(
    buffer: Buffer, rows: Sequence[Mapping[str, Any]], copied: Mapping[int, Mapping[Placement, Penalty]]
) -> Buffer:
    """A buffer for which the recording gives the costs of its copies, and of lying on the host."""
    each = [copied[row["number"]] for row in rows if row["number"] in copied]
    return replace(buffer, known=copies.together(each)) if each else buffer


def _launches(profile: Mapping[str, Any]) -> dict[str, Any]:
    """The first launches as recorded, against which moves are measured while they are applied."""
    steps = [step for step in profile.get("steps", ()) if step["step"] == "launch"][:_MOST_LAUNCHES]
    keys = ("name", "blocks", "threads_per_block")
    kernels = [{key: kernel[key] for key in keys} for kernel in profile["kernels"]] if steps else []
    return {"kernels": kernels, "launches": [[step["kernel"], step["ns"], step["gap_ns"]] for step in steps]}


def unseen(profile: Mapping[str, Any]) -> Iterator[str]:
    """What the recording could not see, and the consequences."""
    unknown = sum(each["launches"] for each in profile.get("kernels", ()) if not each.get("parameters_known", True))
    if unknown:
        yield f"{unknown:,} launches have unknown parameters (before CUDA 12.4), so that nobody knows what they use"
    graphs = profile.get("graph_launches", 0)
    if graphs or profile.get("captured_launches", 0):
        yield f"{graphs:,} launches of CUDA graphs: what their kernels use and take is not seen, and nothing is moved"
    lost = profile.get("steps_lost", 0)
    if lost:
        yield f"{lost:,} steps beyond the first {len(profile['steps']):,} were not recorded"


def _frames(profile: Mapping[str, Any], allocation: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
    return tuple((str(frame["module"]), int(frame["offset"])) for frame in profile["sites"][allocation["site"]])


def _callers(frames: Sequence[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """The callers that `crates/octavo-interpose/src/apply/placement.rs` distinguishes.

    Files are known by their names, wherever they are; code outside a file has no stable address.
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
    """The nearest caller for which debug information has a line, or else the nearest one: file and offset."""
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
    """Make names unique: sites that only differ further up the stack get a number, in order of allocation."""
    seen: dict[str, int] = defaultdict(int)
    names = []
    for place in places:
        seen[place] += 1
        names.append(place if seen[place] == 1 else f"{place} #{seen[place]}")
    return names


def _buffer(name: str, kind: str, size: int, rows: Sequence[dict[str, Any]], system: System) -> Buffer:
    """Faults of a buffer whose pages are assumed to be touched in order, so that the driver's tree fetches ahead."""
    pages = -(-size // system.page)
    inwards, outwards = (_copied(rows, kind, size, way) for way in ("copied_in", "copied_out"))
    comes = max(inwards.value / size, 1.0)
    again = "what is copied in, over its size: the host writes it between launches"
    faults = Fact.between(1.0, swept(pages) * comes, max(swept(pages), -(-pages // _LEAF)) * comes, "assumed", _DENSE)
    back = swept(pages) * outwards.value / size
    returns = Fact.between(0.0, back, swept(pages), "assumed", _DENSE)
    touched = Fact.between(1 / pages, 1.0, 1.0, "assumed", "a recording tells no accesses")
    nothing = Fact.exact(0.0, "assumed", "no faults were recorded")
    facts = {
        "used": touched,
        "sigma": touched,
        "rho": Fact.between(1.0, comes, comes, "estimated", again),
        "alpha": Fact.between(0.25, 1.0, 64.0, "assumed", "a recording tells no accesses"),
        "occupancy": Fact.between(0.1, 0.5, 1.0, "assumed", "a recording tells no accesses"),
        "lines": Fact.exact(size, "assumed", "a recording tells no accesses"),
        "concurrency": Fact.between(1.0, 1.0, float(system.most_faults), "assumed", "each fault in a group of its own"),
        "faults": faults,
        "copied_in": inwards,
        "copied_out": outwards,
        "prefetches": faults,
        "stale_faults": nothing,
        "fault_runs": faults,
        "host_faults": Fact.between(1.0, swept(pages), pages, "assumed", "the host goes through it in order"),
        "returned": Fact(outwards.value, outwards.low, outwards.high, "estimated", "what it would be copied out for"),
        "return_faults": returns,
        "return_prefetches": returns,
        "thrashing": nothing,
        "copies": _calls(rows, inwards, outwards),
    }
    facts |= ahead(size, inwards, max(round(comes), 1), round(comes))
    return Buffer(
        name=name,
        size=size,
        present=_PLACEMENTS[kind],
        first="host" if inwards.value else "device",
        write_shared=False,
        can_pin=False,
        exchanged=comes > 1,
        facts=facts,
    )


def _copied(rows: Sequence[dict[str, Any]], kind: str, size: int, way: str) -> Fact:
    """Bytes that are copied one way, for each allocation of device memory; nobody copies managed memory."""
    recorded = float(sum(row[way]["bytes"] for row in rows)) / len(rows)
    if kind == "device" or recorded:
        return Fact.exact(recorded, "recorded", _RECORDED)
    value = size if way == "copied_in" else 0.0
    return Fact.between(0.0, value, size, "assumed", "managed memory, which the host is taken to write once at first")


def _calls(rows: Sequence[dict[str, Any]], inwards: Fact, outwards: Fact) -> Fact:
    """Copies of device memory: those recorded, or one for each way."""
    recorded = sum(row[way]["calls"] for row in rows for way in ("copied_in", "copied_out")) / len(rows)
    if recorded:
        return Fact.exact(recorded, "recorded", _RECORDED)
    return Fact.exact((inwards.value > 0) + (outwards.value > 0), inwards.certainty, inwards.where)


def read_marked(path: Path, key: str, what: str, hint: str | None = None) -> dict[str, Any]:
    """A JSON document that has a key; `what` names it in messages, and `hint` says how to get one.

    Raises:
        AdviceError: it cannot be read, is no JSON, or has no such key.

    """
    try:
        found = json.loads(read_bytes(path, what, _MOST_BYTES))
    except OSError as error:
        raise AdviceError(f"cannot read {path}: {error.strerror}", code="unreadable", file=path) from None
    except (ValueError, RecursionError) as error:
        raise AdviceError(
            f"{path}: expected {what}, found no JSON ({error})", file=path, expected=what, code="syntax"
        ) from None
    if not isinstance(found, dict) or key not in found:
        raise AdviceError(
            f"{path}: expected {what}, found no key `{key}`", hint, file=path, key=key, expected=what, code="missing"
        )
    return found
