"""An explanation as one picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.explain import words
from octavo.explain.stalls import together
from octavo.explain.words_of_stalls import NAMES
from octavo.runs import pictures
from octavo.runs.pictures import sheet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octavo.explain.facts import Facts
    from octavo.explain.what_if import Remedy

_MOST_LINKS = 4
_DRAWN = 0.005
"""The share of the kernels' time from which on a stall is drawn; our choice."""


def apart(names: tuple[str, str], causes: Mapping[str, float], width: float | None) -> pictures.Picture:
    """How much longer the second of two runs takes for each cause (picoseconds)."""
    unit, scale = pictures.time_unit(max((abs(part) for part in causes.values()), default=0.0))
    table = pl.DataFrame({"cause": list(causes), "time": [part / scale for part in causes.values()]})
    table = table.with_columns(pl.col("cause").str.replace_all("_", " "))
    title = f"{names[1]} against {names[0]}: where the difference comes from"
    inches = sheet.checked_width("width", width)
    return pictures.bars(None, table, xlabel=f"{unit} more", title=title, width=inches)


def draw(name: str, found: Facts, remedies: Sequence[Remedy] | None, width: float | None) -> pictures.Picture:
    """Times of the changes, relative to the run; without changes, what is in use and what faults wait for.

    Lines in flight that wait for a place count, so these can be above 100 %.
    """
    width = sheet.checked_width("width", width)
    if remedies:
        values = {one.name: 1 + one.change for one in remedies}
        table = pl.DataFrame({"change": list(values), "time": list(values.values())})
        title = f"What would help {name}: time relative to it"
        ends = {(one.name, "time"): one.ends for one in remedies if one.replicates > 1}
        return pictures.bars(
            None, table, xlabel="relative time", title=title, line_at=1.0, width=width, intervals=ends or None
        )
    spent = {NAMES[stall]: share for stall, share in together(found.kernels).items() if share >= _DRAWN}
    used = {**({} if found.driver is None else {"driver": found.driver}), **found.occupied}
    busiest = {f"link {name.replace('->', ' → ')}": share for name, share in list(found.links.items())[:_MOST_LINKS]}
    parts = {f"In use, % of what there is{_of_all(found)}": used | busiest}
    if spent:
        parts = {"What the kernels' time passes with, %": spent} | parts
    if found.waits:
        parts["What faults wait for, % of their wait"] = {words.WAITED[one.part]: one.share for one in found.waits[:-1]}
    rounded = {name: {what: round(share * 100, 1) for what, share in part.items()} for name, part in parts.items()}
    return pictures.sections(None, rounded, title=f"What bound {name}", width=width)


def _of_all(found: Facts) -> str:
    """The most links that are shown."""
    return f" (the {_MOST_LINKS} busiest of {len(found.links)} links)" if len(found.links) > _MOST_LINKS else ""
