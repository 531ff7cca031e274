"""Calls from the engine for workloads in Python: what one has, and where the trace of its lines lies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from octavo._core import OptionError
from octavo.errors import TraceError, WorkloadError
from octavo.files.notes import note
from octavo.isolation.process import Process, VanishedError
from octavo.policies.engine import read
from octavo.policies.find import place
from octavo.trace.folder import check, written
from octavo.trace.user_workloads import cache

if TYPE_CHECKING:
    from pathlib import Path

_KNOWN: dict[str, str] = {}
"""What is known to be described, by key."""
_WORKER = "octavo.trace.user_workloads.worker"


def described(name: str, given: str, scale: float, seed: int) -> str:
    """Buffers, launches and exchanges of a workload, as JSON.

    Args:
        name: the place of its class.
        given: options and the digest of its source, as JSON.
        scale: the size that is wanted.
        seed: of its random numbers.

    Raises:
        WorkloadError: its code raised, or it has what cannot be.

    """
    asked = _asked(name, given, scale, seed)
    key = cache.key(asked)
    if key not in _KNOWN:
        kept = cache.folder() / f"{key}.json"
        try:
            _KNOWN[key] = kept.read_text(encoding="utf-8")
        except OSError:
            _KNOWN[key] = json.dumps(_answer({**asked, "do": "describe"}))
            cache.keep(kept, _KNOWN[key])
    return _KNOWN[key]


def folder(name: str, given: str, scale: float, seed: int) -> str:
    """The trace of a workload's lines, which are generated unless they are there; errors as `described`."""
    asked = _asked(name, given, scale, seed)
    path = cache.folder() / f"{cache.key(asked)}.trace"
    with cache.alone(path):
        if not _is_whole(path):
            cache.make_room()
            _generate(asked, path)
        cache.touch(path)
    for text in json.loads(cache.notes_of(path).read_text(encoding="utf-8")):
        note(text)
    return str(path)


def _is_whole(path: Path) -> bool:
    """Whether a trace is there; one that is damaged is removed."""
    if not path.exists():
        return False
    try:
        check(path)
    except TraceError:
        cache.remove(path)
        return False
    return True


def _generate(asked: dict[str, Any], path: Path) -> None:
    with written(path, replace=False) as new:
        found = _answer({**asked, "do": "generate", "folder": str(new)})
        cache.keep(cache.notes_of(path), json.dumps(found["notes"]))


def _asked(name: str, given: str, scale: float, seed: int) -> dict[str, Any]:
    values, digest = read(given)
    return {"name": name, "digest": digest, "options": values, "scale": scale, "seed": seed}


def _answer(order: dict[str, Any]) -> dict[str, Any]:
    """What the class says in a process of its own, in which it can do no harm to others."""
    file = place(order["name"])
    try:
        with Process(_WORKER) as process:
            return process.ask(order)
    except VanishedError as error:
        refused = WorkloadError(f"{file}: {error.args[0]}", file=file)
        refused.details = error.details
        raise refused from None
    except OptionError as error:
        raise WorkloadError(f"{file}: {error.args[1]}", file=file, key=error.args[0]) from None
    except OSError as error:
        raise WorkloadError(f"{file}: no process can be started: {error.strerror}", file=file) from None
