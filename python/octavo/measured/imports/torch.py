"""Memory snapshots of PyTorch (`torch.cuda.memory._dump_snapshot`): pickles, read without executing anything.

A pickle is a program that can call any function it names. Snapshots hold nothing but dictionaries, lists, text and
numbers, so a reader that finds no name at all reads them, and nothing can be called.
"""

from __future__ import annotations

import pickle
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from octavo.errors import ProfileError
from octavo.measured.imports.allocations import Change
from octavo.measured.imports.allocators import Log, checked, write
from octavo.measured.imports.write import check_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from octavo.runs.result import RunResult

_MISSING = ["faults, copies and kernels", "what the caching allocator reserves beyond what it hands out"]
_WRITTEN = "torch.cuda.memory._dump_snapshot writes one"
_HANDED_OUT, _GIVEN_BACK = "alloc", "free_completed"
"""Actions of `device_traces`; source: torch/csrc/cuda/memory_snapshot.cpp. Others are of segments or asked for only."""


class _NotDataError(pickle.UnpicklingError):
    """A pickle that is more than data, in words for the user."""


class _NothingButData(pickle._Unpickler):
    """Reads containers, text and numbers; in Python, so that sizes which a file only claims reserve no memory."""

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
    """Import a memory snapshot; the folder appears when everything is written, or not at all.

    Args:
        path: the pickle, recorded with `torch.cuda.memory._record_memory_history()` before.
        folder: the result folder to write.
        force: replace a result that is there.

    Raises:
        ProfileError: the file cannot be read, holds anything but data, or no history with times.
        OutputError: the folder cannot be written, or holds something.

    """
    path, folder = Path(path), Path(folder)
    check_folder(folder, force=force)
    notes: Counter[str] = Counter()
    changes = _changes(path, _traces(path), notes)
    return write(Log({"tool": "torch", "file": path.name}, changes, _MISSING, notes), folder, force=force)


def _traces(path: Path) -> list[Any]:
    try:
        with path.open("rb") as file:
            found = _NothingButData(file).load()
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
    return traces


def _changes(path: Path, traces: list[Any], notes: Counter[str]) -> dict[int, list[Change]]:
    changes: dict[int, list[Change]] = {}
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
            address, size, time = (_whole(where, entry, name) for name in ("addr", "size", "time_us"))
            if not checked(address, size, time * 1000):
                notes["impossible addresses, sizes or times, left out"] += 1
                continue
            name = _name(entry.get("frames"))
            change = Change(time * 1000, address, size, action == _HANDED_OUT, "device", name)
            changes.setdefault(gpu, []).append(change)
    return {gpu: sorted(found, key=lambda change: change.time) for gpu, found in changes.items()}


def _whole(where: str, entry: dict[Any, Any], name: str) -> int:
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


def _name(frames: object) -> str | None:
    """The innermost function of Python's that is told, as `file:line function`."""
    for frame in frames if isinstance(frames, list) else ():
        if not isinstance(frame, dict):
            continue
        file, line, name = (frame.get(key) for key in ("filename", "line", "name"))
        if isinstance(file, str) and file.endswith(".py") and isinstance(name, str) and _is_line(line):
            # Pickles can hold halves of characters, which tables cannot.
            return f"{Path(file).name}:{line} {name}".encode(errors="replace").decode()
    return None
