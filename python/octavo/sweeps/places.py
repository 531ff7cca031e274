"""Files that say which machine of a cluster ran a point, and with which build of Octavo.

Only they depend on which machine ran a point, so tables contain nothing about it. Each is one line of JSON with a hash
of itself.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from octavo.errors import DamagedError
from octavo.files import digest
from octavo.sweeps.crew import Place

if TYPE_CHECKING:
    from pathlib import Path

SUFFIX = ".json"
_AGAIN = "remove it: nothing else depends on it"


def sealed(point: int, place: Place) -> bytes:
    """The content of the file of a point."""
    body = {"point": point, "machine": place.machine, "engine": place.engine}
    return (json.dumps({**body, "check": _check(body)}) + "\n").encode()


def is_one(path: Path) -> bool:
    """Whether Octavo wrote a file, and it is undamaged."""
    return not path.is_symlink() and path.is_file() and _parsed(path) is not None


def read(path: Path) -> tuple[int, Place]:
    """Number of a point, and where it ran.

    Raises:
        DamagedError: the file is not what was written.

    """
    body = _parsed(path)
    if body is None or f"{body['point']:05d}" != path.stem:
        raise DamagedError(
            f"{path} is damaged: expected what `octavo sweep` writes, found something else", _AGAIN, file=path
        )
    return body["point"], Place(body["machine"], body["engine"])


def _parsed(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_bytes())
        body = {name: found[name] for name in ("point", "machine", "engine")}
        return body if found["check"] == _check(body) else None
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def _check(body: dict[str, Any]) -> str:
    return digest.of_text(json.dumps(body))
