"""Shared parts of the report's charts, as Vega-Lite writes them: channels, marks, sizes and colours."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from octavo.report.phases import ORDER
from octavo.runs import colours

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Part = dict[str, Any]
"""A part of a specification in Vega-Lite."""

TIME = "time in ms"
PLAIN = ",.3~r"
"""Format of numbers on axes: three digits, and no letters for powers."""
WHOLE = ",.3r"
"""Format of numbers beside bars: three digits."""
PHASES = dict(zip(ORDER, colours.PHASES.values(), strict=True))
"""Phases in the words of totals."""
_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_TYPES = {"Q": "quantitative", "N": "nominal"}


def channel(of: str, **about: object) -> Part:
    """The field and the type of a channel, such as `time_ms:Q` or `sum(pages):Q`; for a second end, only the field."""
    found = re.fullmatch(r"(?:(\w+)\()?(\w+)\)?(?::([QN]))?", of)
    if found is None:
        raise ValueError(of)
    aggregate, field, kind = found.groups()
    given = {"aggregate": aggregate, "field": field, "type": _TYPES.get(kind)}
    return {name: value for name, value in given.items() if value is not None} | about


def marks(kind: str, encoding: Part, *, only: str | None = None, **looks: object) -> Part:
    """One layer: marks of one kind for all rows, or for the rows for which the expression `only` is true."""
    kept = {} if only is None else {"transform": [{"filter": only}]}
    return {"mark": {"type": kind, **looks}, "encoding": encoding, **kept}


def bars(encoding: Part, part: float) -> Part:
    """A layer of horizontal bars that fill a part of their rows, outlined: some are nearly as dark as the paper."""
    return marks("bar", encoding, height={"band": part}, stroke="var(--edge)", strokeWidth=0.75)


def scale_of(shades: Mapping[str, str]) -> Part:
    """Colours by name."""
    return {"domain": list(shades), "range": list(shades.values())}


def causes_scale(causes: Sequence[str]) -> Part:
    """Colours of causes, by the names that pages show."""
    return {"domain": list(causes), "range": [colours.CAUSES[cause.replace(" ", "_")] for cause in causes]}


def chart(*layers: Part, height: int | Part, **about: object) -> Part:
    """The specification of a chart that fills its place; the page adds the rows."""
    drawn = layers[0] if len(layers) == 1 else {"layer": list(layers)}
    return {"$schema": _SCHEMA, "data": {"name": "rows"}, "width": "container", "height": height, **drawn, **about}
