"""Logs of several processes under one placement file, added up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHAPE = ("kernel", "blocks", "threads_per_block")
_LABELS = ("name", "call", "bytes", "placement")
"""Keys that describe a buffer; all other numbers count what was done with it."""


def summed(logs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One log of all processes; `refused` is that of the first, since all read the same file.

    Args:
        logs: of each process that wrote one, at least one.

    """
    done = [log for log in logs if log["refused"] is None]
    calls = sorted({call for log in done for call in log["passed_on"]})
    buffers = zip(*(log["buffers"] for log in done), strict=True)
    return {
        "refused": None if done else logs[0]["refused"],
        "buffers": [_buffer(each) for each in buffers],
        "passed_on": {
            call: _counts([log["passed_on"][call] for log in done if call in log["passed_on"]]) for call in calls
        },
        "unnamed": _counts([log["unnamed"] for log in done]),
        "moves_refused": sum(log["moves_refused"] for log in done),
        "gained_ns": sum(log["gained_ns"] for log in done),
        "launches": _launches([each for log in done for each in log["launches"]]),
        "copies": _all_measured([log["copies"] for log in done]),
    }


def _buffer(each: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A buffer in all processes; the status is that of the first failure."""
    counts = [{key: value for key, value in one.items() if key not in (*_LABELS, "status", "returns")} for one in each]
    status = next((one["status"] for one in each if one["status"] is not None), None)
    labels = {key: each[0][key] for key in _LABELS}
    return {**labels, **_counts(counts), "status": status, "returns": _all_measured([one["returns"] for one in each])}


def _launches(each: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Kernels in all processes, in the order in which memory first moved for them."""
    alike: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for one in each:
        alike.setdefault(tuple(one[key] for key in _SHAPE), []).append(one)
    return [{**dict(zip(_SHAPE, shape, strict=True)), **_measured(found)} for shape, found in alike.items()]


def _all_measured(each: Sequence[dict[str, Any] | None]) -> dict[str, Any] | None:
    """Of the processes that measured anything."""
    found = [one for one in each if one is not None]
    return _measured(found) if found else None


def _measured(each: Sequence[dict[str, Any]]) -> dict[str, Any]:
    sums = {key: sum(one[key] for one in each) for key in ("rounds", "ns", "recorded_ns")}
    return {**sums, "withdrawn": any(one["withdrawn"] for one in each)}


def _counts(each: Sequence[dict[str, int]]) -> dict[str, int]:
    return {key: sum(one[key] for one in each) for key in (each[0] if each else ("calls", "bytes"))}
