"""Memory snapshots of PyTorch (`torch.cuda.memory._dump_snapshot`): pickles, read without executing anything.

A pickle is a program that can call any function that it names. Snapshots contain only dictionaries, lists, texts and
numbers, so a reader that knows no names can read them, and nothing can be called.
"""

from __future__ import annotations

import gzip
import pickle
from bisect import bisect_left
from collections import Counter
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from octavo.errors import ProfileError
from octavo.measurements.imports import torch_database
from octavo.measurements.imports.allocations import Change
from octavo.measurements.imports.allocators import Log, checked, write
from octavo.measurements.imports.nsys_export import is_database, opened
from octavo.measurements.imports.torch_blocks import IMPOSSIBLE, NO_TIMES, STEP, at_the_end, frame_name, whole
from octavo.measurements.imports.write import check_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from octavo.runs.result import RunResult

_MISSING = ["faults, copies and kernels", "what the caching allocator reserves beyond what it hands out"]
_WRITTEN = "torch.cuda.memory._dump_snapshot writes one"
OTHER_STREAMS = "rows of another stream than the first one's, which are not told apart"
_GZIP = b"\x1f\x8b"
_HANDED_OUT, _GIVEN_BACK = "alloc", "free_completed"
"""Actions of `device_traces`; source: torch/csrc/cuda/memory_snapshot.cpp. Other actions concern segments, or are only
requests."""


class _NotDataError(pickle.UnpicklingError):
    """A pickle that contains more than data, in words for the user."""


class _NothingButData(pickle._Unpickler):
    """Reads containers, texts and numbers; in Python, so that sizes which a file only claims reserve no memory."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise _NotDataError(f"it refers to the code {module}.{name}, which plain data does not")

    def persistent_load(self, _pid: object) -> NoReturn:
        raise _NotDataError("it refers to something outside of it")

    def load_bytearray8(self) -> NoReturn:
        raise _NotDataError("it holds a bytearray, which snapshots do not")

    dispatch: ClassVar[dict[int, Callable[[Any], None]]] = {
        **pickle._Unpickler.dispatch,
        # Python makes it as large as the file claims, before it reads it.
        pickle.BYTEARRAY8[0]: load_bytearray8,
    }

    def get_extension(self, code: int) -> NoReturn:
        raise _NotDataError(f"it refers to the extension {code}, which plain data does not")


def import_torch(path: str | Path, folder: str | Path, *, force: bool = False) -> RunResult:
    """Import a memory snapshot; the folder appears once everything is written, or not at all.

    Blocks that were allocated before the recording and still exist are only in `segments`; they exist from the start.

    Args:
        path: the pickle, plain or packed with gzip, recorded with `torch.cuda.memory._record_memory_history()` before;
            or the SQLite database that memsnapdump makes of it.
        folder: the result folder to write.
        force: replace a result that is there.

    Raises:
        ProfileError: the file cannot be read, holds anything but data, or no history with times.
        OutputError: the folder cannot be written, or holds something.

    """
    folder = Path(folder)
    check_folder(folder, force=force)
    return write(read(path), folder, force=force)


def read(path: str | Path) -> Log:
    """The allocations of a snapshot; errors as `import_torch`."""
    path, notes = Path(path), Counter[str]()
    if is_database(path):
        found, changes = torch_database.read(path, notes)
    else:
        found, changes = _snapshot(path), {}
    if found is not None:
        changes = _of_snapshot(path, found, notes)
    if not changes:
        raise ProfileError(
            f"{path} has no allocation: it has no history",
            "call torch.cuda.memory._record_memory_history() before what is to be recorded",
            code="missing",
            file=path,
        )
    about, timed = {"tool": "torch", "file": path.name}, not notes[NO_TIMES]
    return Log(about, changes, _MISSING, notes, timed=timed, has_segments=found is None or not _expands(found))


def _expands(found: dict[Any, Any]) -> bool:
    """Whether segments grow, so that what is freed anywhere has room for what comes."""
    settings = found.get("allocator_settings")
    segments = found.get("segments")
    return (isinstance(settings, dict) and settings.get("expandable_segments") is True) or any(
        isinstance(each, dict) and each.get("is_expandable") is True
        for each in (segments if isinstance(segments, list) else ())
    )


def is_snapshot_database(path: Path) -> bool:
    """Whether a database is what memsnapdump makes of a snapshot."""
    try:
        with opened(path, torch_database.Database):
            return True
    except ProfileError as error:
        return error.code != "missing"


def _of_snapshot(path: Path, found: dict[Any, Any], notes: Counter[str]) -> dict[int, list[Change]]:
    changes = _changes(path, found["device_traces"], notes)
    if changes:
        _add_base(changes, at_the_end(path, found.get("segments", []), notes), notes)
    return changes


def _snapshot(path: Path) -> dict[Any, Any]:
    try:
        with path.open("rb") as file:
            is_packed = file.read(2) == _GZIP
            file.seek(0)
            found = _NothingButData(gzip.GzipFile(fileobj=file) if is_packed else file).load()
    except gzip.BadGzipFile as error:
        raise ProfileError(f"{path} is damaged: {error}", _WRITTEN) from None
    except OSError as error:
        raise ProfileError(f"cannot read {path}: {error.strerror}", code="unreadable", file=path) from None
    except _NotDataError as error:
        raise ProfileError(
            f"{path} is not a memory snapshot: {error}", _WRITTEN, file=path, code="unexpected-value"
        ) from None
    except Exception:  # bytes that are no pickle end in any of a dozen
        raise ProfileError(
            f"{path} is not a memory snapshot: it is no pickle, or a damaged one", _WRITTEN, file=path, code="syntax"
        ) from None
    traces = found.get("device_traces") if isinstance(found, dict) else None
    if not isinstance(traces, list) or not all(isinstance(one, list) for one in traces):
        raise ProfileError(
            f"{path} is not a memory snapshot: expected `device_traces`, a list for each GPU",
            code="unexpected-value",
            file=path,
        )
    return dict(found)


def _add_base(changes: dict[int, list[Change]], base: dict[int, dict[int, Change]], notes: Counter[str]) -> None:
    """Add blocks that are in use at the end and whose allocation is missing from the history."""
    start = min(found[0].time for found in changes.values())
    for gpu, blocks in sorted(base.items()):
        history = changes.setdefault(gpu, [])
        live: set[int] = set()
        for change in history:
            (live.add if change.allocates else live.discard)(change.address)
        unknown = [one for address, one in sorted(blocks.items()) if address not in live]
        is_used = _used(history)
        before = [one for one in unknown if not is_used(one)]
        later = [replace(one, time=history[-1].time) for one in unknown if is_used(one)]
        notes["blocks of `segments` allocated before the recording; they are there from the start"] += len(before)
        notes["blocks of `segments` whose allocation was lost; they are there from the last row on"] += len(later)
        notes["allocations that `segments` does not have at the end"] += len(live - blocks.keys())
        history[:] = [*(replace(one, time=start) for one in before), *history, *later]


def _used(history: list[Change]) -> Callable[[Change], bool]:
    """Whether the history contains bytes of a block."""
    spans = sorted((change.address, change.address + change.bytes) for change in history)
    ends = list(accumulate((end for _, end in spans), max))

    def is_used(one: Change) -> bool:
        at = bisect_left(spans, (one.address + one.bytes, 0))
        return at > 0 and ends[at - 1] > one.address

    return is_used


def _changes(path: Path, traces: list[Any], notes: Counter[str]) -> dict[int, list[Change]]:
    changes: dict[int, list[Change]] = {}
    timed = any(isinstance(entry, dict) and "time_us" in entry for trace in traces for entry in trace)
    for gpu, trace in enumerate(traces):
        for number, entry in enumerate(trace):
            where = f"{path}: device_traces[{gpu}][{number}]"
            if not isinstance(entry, dict):
                raise ProfileError(
                    f"{where}: expected a dictionary, found {type(entry).__name__}", code="unexpected-value"
                )
            action = entry.get("action")
            if action not in (_HANDED_OUT, _GIVEN_BACK):
                continue
            address, size = (whole(where, entry, name) for name in ("addr", "size"))
            time = whole(where, entry, "time_us") if timed else number
            if not checked(address, size, time * STEP):
                notes[IMPOSSIBLE] += 1
                continue
            notes[OTHER_STREAMS] += entry.get("stream", 0) != trace[0].get("stream", 0)
            name = frame_name(entry.get("frames"))
            change = Change(time * STEP, address, size, action == _HANDED_OUT, "device", name)
            changes.setdefault(gpu, []).append(change)
    notes[NO_TIMES] += bool(changes) and not timed
    return {gpu: sorted(found, key=lambda change: change.time) for gpu, found in changes.items()}
