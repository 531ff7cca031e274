"""Pictures of a run over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.runs import colours, lending
from octavo.runs.pictures import sheet

if TYPE_CHECKING:
    from pathlib import Path

    from octavo.runs.result import RunResult

_MEBIBYTE = 1 << 20
_PARTS = 160
"""The equal parts of a run that a picture distinguishes."""


def memory(path: Path | None, result: RunResult, *, title: str, width: float = sheet.PAGE) -> sheet.Picture:
    """Bytes in the memory of each processor at the end of each interval (`record.interval`)."""
    found = sheet.figure(width, 0.62 * width if width < sheet.PAGE else 3.0)
    axes = found.add_subplot()
    unit, per_unit = sheet.time_unit(result.summary["time_ps"])
    table = result.table("memory_intervals")
    for (processor,), rows in table.group_by("processor", maintain_order=True):
        times, held = rows["time_ps"] / per_unit, rows["bytes"] / _MEBIBYTE
        colour = colours.memories([str(processor)])[0]
        axes.step(times, held, where="pre", linewidth=1.0, color=colour, label=str(processor))
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(f"time in {unit}", fontsize=9)
    axes.set_ylabel("MiB", fontsize=9)
    sheet.tidy(axes, "")
    sheet.headline(found, title)
    sheet.legend(found, axes)
    return sheet.write(found, path)


def lent(path: Path | None, result: RunResult, *, title: str, width: float = sheet.PAGE) -> sheet.Picture:
    """Bytes that each GPU keeps for each other over time, of a run that recorded events: an area for each pair."""
    found = sheet.figure(width, 0.62 * width if width < sheet.PAGE else 3.0)
    axes = found.add_subplot()
    unit, per_unit = sheet.time_unit(result.summary["time_ps"])
    kept = lending.by_pair(lending.over_time(result, _PARTS))
    pairs = list(kept.group_by("pair", maintain_order=True))
    if pairs:
        times = pairs[0][1]["to_ps"] / per_unit
        areas = [rows["bytes"] / _MEBIBYTE for _, rows in pairs]
        labels = [str(pair) for (pair,), _ in pairs]
        axes.stackplot(times, areas, labels=labels, step="pre", colors=colours.PAIRS[: len(labels)])
    axes.set_xlim(0, result.summary["time_ps"] / per_unit)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(f"time in {unit}", fontsize=9)
    axes.set_ylabel("MiB", fontsize=9)
    sheet.tidy(axes, "")
    sheet.headline(found, title)
    if pairs:
        sheet.legend(found, axes)
    return sheet.write(found, path)
