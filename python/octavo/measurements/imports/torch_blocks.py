"""Blocks of PyTorch's caching allocator: which of them are in use at the end, according to a snapshot's `segments`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo.errors import ProfileError
from octavo.measurements.imports.allocations import Change
from octavo.measurements.imports.allocators import checked

if TYPE_CHECKING:
    from collections import Counter

_IN_USE = ("active_allocated", "active_pending_free", "active_awaiting_free")
"""States of blocks that nobody else can use; source: torch/csrc/cuda/Module.cpp, `_cuda_memorySnapshot`."""
MOST_GPUS = 256
BEFORE = "before the recording"
IMPOSSIBLE = "impossible addresses, sizes or times, left out"
NO_TIMES = "snapshots without times: each event of a GPU is taken to be 1 us after the one before"
STEP = 1000
"""Nanoseconds between events of which no time is recorded; chosen, to keep their order."""


def at_the_end(path: Path, segments: object, notes: Counter[str]) -> dict[int, dict[int, Change]]:
    """Blocks that are in use, by GPU and address.

    Raises:
        ProfileError: the segments are not what PyTorch writes; the message names the place.

    """
    if not isinstance(segments, list):
        raise ProfileError(
            f"{path}: `segments`: expected a list, found {type(segments).__name__}", code="unexpected-value"
        )
    found: dict[int, dict[int, Change]] = {}
    for number, segment in enumerate(segments):
        where = f"{path}: segments[{number}]"
        _expect_dictionary(where, segment)
        blocks = segment.get("blocks")
        if not isinstance(blocks, list):
            raise ProfileError(
                f"{where}: `blocks`: expected a list, found {type(blocks).__name__}", code="unexpected-value"
            )
        gpu, address = whole(where, segment, "device"), whole(where, segment, "address")
        if not 0 <= gpu < MOST_GPUS:
            raise ProfileError(
                f"{where}: `device`: expected 0 to {MOST_GPUS - 1}, found {gpu}", code="unexpected-value"
            )
        of_gpu = found.setdefault(gpu, {})
        for index, block in enumerate(blocks):
            place = f"{where}: blocks[{index}]"
            _expect_dictionary(place, block)
            size = whole(place, block, "size")
            # Older versions leave out the address: blocks follow one another.
            address = whole(place, block, "address") if "address" in block else address
            if block.get("state") in _IN_USE:
                asked = whole(place, block, "requested_size") if "requested_size" in block else size
                if checked(address, asked, 0):
                    of_gpu[address] = Change(
                        0, address, asked, True, "device", frame_name(block.get("frames")) or BEFORE
                    )
                else:
                    notes[IMPOSSIBLE] += 1
            address += size
    return {gpu: blocks for gpu, blocks in found.items() if blocks}


def _expect_dictionary(where: str, value: object) -> None:
    if not isinstance(value, dict):
        raise ProfileError(f"{where}: expected a dictionary, found {type(value).__name__}", code="unexpected-value")


def whole(where: str, entry: dict[Any, Any], name: str) -> int:
    """The whole number at a key.

    Raises:
        ProfileError: it is none.

    """
    value = entry.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        hint = f"record with a version of PyTorch whose snapshots hold `{name}`" if name == "time_us" else None
        raise ProfileError(
            f"{where}: `{name}`: expected a whole number, found {type(value).__name__}",
            hint,
            code="unexpected-value",
            key=name,
        )
    return value


def _is_line(value: object) -> bool:
    return isinstance(value, int) and 0 <= value < 1 << 31


def frame_name(frames: object) -> str | None:
    """The innermost Python function in the snapshot, as `file:line function`."""
    for frame in frames if isinstance(frames, list) else ():
        if not isinstance(frame, dict):
            continue
        file, line, name = (frame.get(key) for key in ("filename", "line", "name"))
        if isinstance(file, str) and file.endswith(".py") and isinstance(name, str) and _is_line(line):
            # Pickles can hold halves of characters, which tables cannot.
            return f"{Path(file).name}:{line} {name}".encode(errors="replace").decode()
    return None
