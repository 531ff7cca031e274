"""Logs of several processes under one placement file, added up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_LABELS = ("name", "call", "bytes", "placement")
"""What a buffer is; all else that is a number counts what was done with it."""


def summed(logs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One log of what all processes did; `refused` is of the first, since all read the same file.

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
    }


def _buffer(each: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A buffer in all processes; the status comes from the first failure."""
    counts = [{key: value for key, value in one.items() if key not in (*_LABELS, "status")} for one in each]
    status = next((one["status"] for one in each if one["status"] is not None), None)
    return {**{key: each[0][key] for key in _LABELS}, **_counts(counts), "status": status}


def _counts(each: Sequence[dict[str, int]]) -> dict[str, int]:
    return {key: sum(one[key] for one in each) for key in (each[0] if each else ("calls", "bytes"))}
