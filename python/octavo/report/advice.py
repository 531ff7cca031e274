"""Advice in folders of a report (`octavo advise -o`), as the report shows it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo.advice import timeline, verification
from octavo.advice.answer import ADVICE_FILE
from octavo.errors import DamagedError
from octavo.files import manifest
from octavo.runs.content import holds_result

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ALIKE = ("managed", "pinned")
"""Runs with all buffers in one kind of memory, which gave facts."""
_FACTS = ("used", "sigma", "rho", "alpha")
"""Facts of each buffer that the page shows."""


def read(paths: Sequence[str | Path]) -> list[dict[str, Any]]:
    """The advice in some folders.

    Raises:
        DamagedError: one holds advice that cannot be read.

    """
    return [_of(Path(path)) for path in paths if holds(Path(path))]


def holds(path: Path) -> bool:
    """Whether a folder holds advice."""
    return (path / ADVICE_FILE).is_file()


def with_its_runs(paths: Sequence[str | Path]) -> list[Path]:
    """Folders with the runs of a report: for advice, those that gave facts, the present and the advised placement."""
    return [each for path in map(Path, paths) for each in (_runs(path) if holds(path) else [path])]


def _runs(path: Path) -> Iterator[Path]:
    wanted = [*(path / "runs" / label for label in dict.fromkeys(_places(path))), *(path / name for name in _ALIKE)]
    yield from (each for each in wanted if holds_result(each))


def _places(path: Path) -> list[str]:
    """Names of the folders of the present and the advised placement."""
    buffers = _document(path)["buffers"]
    try:
        return [verification.label({each["name"]: each[key] for each in buffers}) for key in ("present", "advised")]
    except (KeyError, TypeError) as error:
        raise _damaged(path, error) from None


def labels(path: Path) -> dict[Path, str]:
    """Labels of the runs of advice, by their folders; empty if a folder holds no advice."""
    if not holds(path):
        return {}
    found: dict[Path, str] = {path / name: f"all {name}" for name in _ALIKE}
    for name, label in zip(("now", "advised"), _places(path), strict=True):
        folder = path / "runs" / label
        found[folder] = f"{found[folder]} and {name}" if folder in found else name
    return found


def _of(path: Path) -> dict[str, Any]:
    document = _document(path)
    try:
        buffers = [_buffer(each) for each in document["buffers"]]
        exhaustive = document["exhaustive"]
        return {
            **{key: document[key] for key in ("name", "node", "gain", "found", "budget", "notes")},
            "regret": None if exhaustive is None else exhaustive["regret"],
            "candidates": list(_candidates(document)),
            "buffers": buffers,
            "timeline": _timeline(path),
            **_roofline(document["roofline"]),
        }
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise _damaged(path, error) from None


def _candidates(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The placements that were simulated, and which of them are the present one and the advised one."""
    buffers = document["buffers"]
    roles = {role: {each["name"]: each[role] for each in buffers} for role in ("present", "advised")}
    for each in (document["found"] or {"candidates": []})["candidates"]:
        named = ", ".join(f"{name} {placement}" for name, placement in each["placements"].items())
        found = [role for role, placements in roles.items() if placements == each["placements"]]
        yield {**each, "placements": named, "roles": " and ".join(found)}


def _document(path: Path) -> dict[str, Any]:
    try:
        return dict(_read(path, ADVICE_FILE))
    except (TypeError, ValueError) as error:
        raise _damaged(path, error) from None


def _timeline(path: Path) -> dict[str, Any] | None:
    """What happened to the buffers; none unless the advice is on a recording that has the times of launches."""
    if not (path / timeline.FILE).is_file():
        return None
    found = _read(path, timeline.FILE)
    try:
        return None if found is None else {**found, "marks": [dict(mark) for mark in found["marks"]]}
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(path, error, timeline.FILE) from None


def _read(path: Path, name: str) -> Any:
    listed = manifest.read(path)
    if listed is not None and name in listed.files:
        manifest.verify(path, listed, [name])
    try:
        return json.loads((path / name).read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(path, error, name) from None


def _damaged(path: Path, error: Exception, name: str = ADVICE_FILE) -> DamagedError:
    file = path / name
    return DamagedError(f"{file}: damaged: {type(error).__name__} {error}", "advise again with --force", file=file)


def _buffer(each: dict[str, Any]) -> dict[str, Any]:
    return {
        **{key: each[key] for key in ("name", "size", "present", "advised", "gain", "why")},
        **{name: each["facts"][name]["value"] for name in _FACTS},
        "actions": each["actions"]["cuda"] if each["advised"] != each["present"] else [],
    }


def _roofline(curves: dict[str, Any]) -> dict[str, Any]:
    """Rows of the chart."""
    ceilings = [
        {"what": name, "alpha": alpha, "operations": height}
        for name, heights in curves["ceilings"].items()
        for alpha, height in zip(curves["alpha"], heights, strict=True)
    ]
    return {"ceilings": ceilings, "points": [{"what": point.pop("buffer"), **point} for point in curves["buffers"]]}
