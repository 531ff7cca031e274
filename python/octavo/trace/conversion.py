"""Traces of other tools, converted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import octavo._core as _core
from octavo.trace.engine import call
from octavo.trace.folder import written

if TYPE_CHECKING:
    from collections.abc import Callable


def formats() -> list[dict[str, str]]:
    """Foreign formats that `convert` reads: name, summary, source."""
    return [dict(zip(("name", "summary", "source"), one, strict=True)) for one in _core.trace_formats()]


def convert(
    source: str | Path,
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - what it is called everywhere
    replace: bool = False,
    watch: Callable[[float, int], bool] | None = None,
) -> dict[str, Any]:
    """Convert a foreign trace; the folder `path` appears when everything is written and checked, or not at all.

    Args:
        source: file or folder of the foreign trace.
        path: the folder to write.
        format: name of the format; told from the input if left out.
        replace: take the place of a trace that is there.
        watch: called about twenty times a second with the share that is done and the rows written; stops the
            conversion by returning false.

    Returns: `format`, `launches`, `rows`, `allocations`, `instructions`, and `notes`: what was lost or
        guessed, and how often.

    Raises:
        TraceError: the input is not what its format says (file, line and reason), or the trace cannot be written.

    """
    with written(Path(path), replace=replace) as place:
        done: dict[str, Any] = json.loads(call(_core.trace_convert, str(source), str(place), format, False, watch))
    return done
