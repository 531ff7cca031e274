"""An explanation as one picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.runs import pictures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octavo.explain.facts import Facts
    from octavo.explain.what_if import Remedy

_MOST_LINKS = 4


def apart(names: tuple[str, str], causes: Mapping[str, float], width: float | None) -> pictures.Picture:
    """How much longer the second of two runs takes for each cause (picoseconds)."""
    unit, scale = pictures.time_unit(max((abs(part) for part in causes.values()), default=0.0))
    table = pl.DataFrame({"cause": list(causes), "time": [part / scale for part in causes.values()]})
    table = table.with_columns(pl.col("cause").str.replace_all("_", " "))
    title = f"{names[1]} against {names[0]}: where the difference comes from"
    return pictures.bars(
        None, table, xlabel=f"{unit} more", title=title, width=pictures.PAGE if width is None else width
    )


def draw(name: str, found: Facts, remedies: Sequence[Remedy] | None, width: float | None) -> pictures.Picture:
    """Times of what was tried, relative to the run; if nothing was, how busy driver, memory, walkers and links are."""
    width = pictures.PAGE if width is None else width
    if remedies:
        values = {one.label.replace("`", "").partition(" instead of ")[0]: 1 + one.change for one in remedies}
        table = pl.DataFrame({"change": list(values), "time": list(values.values())})
        title = f"What would help {name}: time relative to it"
        return pictures.bars(None, table, xlabel="relative time", title=title, line_at=1.0, width=width)
    busy = {} if found.driver is None else {"driver": min(found.driver, 1.0)}
    busy |= {what: min(share, 1.0) for what, share in found.occupied.items()}
    busy |= dict(list(found.links.items())[:_MOST_LINKS])
    table = pl.DataFrame({"what": list(busy), "busy": [share * 100 for share in busy.values()]})
    return pictures.bars(None, table, xlabel="% of the time", title=f"How much is in use: {name}", width=width)
