"""An explanation as one picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.runs import pictures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.explain.facts import Facts
    from octavo.explain.what_if import Remedy

_MOST_LINKS = 8


def draw(name: str, found: Facts, remedies: Sequence[Remedy] | None, width: float | None) -> pictures.Picture:
    """Times of what was tried, relative to the run; if nothing was, how busy driver and links are."""
    width = pictures.PAGE if width is None else width
    if remedies:
        values = {one.label.replace("`", ""): 1 + one.change for one in remedies}
        table = pl.DataFrame({"change": list(values), "time": list(values.values())})
        title = f"What would help {name}: time relative to it"
        return pictures.bars(None, table, xlabel="relative time", title=title, line_at=1.0, width=width)
    busy = {} if found.driver is None else {"driver": min(found.driver, 1.0)}
    busy |= dict(list(found.links.items())[:_MOST_LINKS])
    table = pl.DataFrame({"what": list(busy), "busy": [share * 100 for share in busy.values()]})
    return pictures.bars(None, table, xlabel="% of the time", title=f"How busy: {name}", width=width)
