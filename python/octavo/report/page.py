"""The page: one self-contained HTML file, which opens from disk and loads nothing from a network."""

from __future__ import annotations

import json
import re
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

from octavo.errors import OutputError
from octavo.plain import visible, visible_json
from octavo.report import charts, shade
from octavo.runs import colours

if TYPE_CHECKING:
    from collections.abc import Mapping

SCRIPTS = (
    "format.js",
    "shown.js",
    "link.js",
    "tables.js",
    "charts.js",
    "crosshair.js",
    "controls.js",
    "perfetto.js",
    "sections.js",
    "overview.js",
    "sweep.js",
    "speed.js",
    "overtime.js",
    "advice.js",
    "pieces.js",
    "view.js",
    "paint.js",
    "history.js",
    "picture.js",
    "map.js",
    "main.js",
)
"""In their order in the page; together they form one module."""


def page(title: str, data: Mapping[str, Any], maps: Mapping[int, str], legends: Mapping[str, Mapping[str, str]]) -> str:
    """The whole page.

    Args:
        title: what a browser's tab says.
        data: everything but the page maps' pieces; `maps` in it says where these lie.
        maps: the pieces of each run's page map, as text, by number of the run.
        legends: colours of causes, memories, variants and lines of a sweep.

    """
    names = {family: shade.named(family, legends[family]) for family in shade.FAMILIES}
    return Template(asset("page.html")).substitute(
        title=escape(visible(title)),
        style=colours.style() + shade.style(legends) + asset("page.css"),
        library=_in_script(library()),
        data=_json(data),
        specifications=_json({"config": charts.config(), **charts.specifications({**legends, **names})}),
        maps="\n".join(f'<script type="text/plain" id="map-{run}">{text}</script>' for run, text in maps.items()),
        script=_in_script("\n".join(asset(name) for name in SCRIPTS)),
    )


BUNDLE = files("octavo").joinpath("report", "page", "vega.js")
"""Only installed packages contain this file: see `tools/wheel/vega.py`."""


@cache
def library() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script, as vl-convert bundles them.

    Raises:
        OutputError: this is no package, but its sources, and vl-convert is not installed.

    """
    if BUNDLE.is_file():
        return BUNDLE.read_text(encoding="utf-8")
    try:
        import vl_convert  # noqa: PLC0415 - importing it takes longer than most commands
    except ImportError:
        raise OutputError(
            "the charts library of reports is missing: this Octavo was built from a checkout",
            "pip install vl-convert-python",
            code="missing",
        ) from None
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")


def asset(name: str) -> str:
    """A file of the page."""
    return files("octavo").joinpath("report", "page", name).read_text(encoding="utf-8")


def _in_script(code: str) -> str:
    """JavaScript that cannot end the element around it: what looks like a tag is in a string or an expression."""
    return re.sub(r"<(/script|!--)", r"<\\\1", code, flags=re.IGNORECASE)


def _json(value: object) -> str:
    """JSON that cannot end the element around it, whatever names it contains; their control characters become text."""
    return visible_json(json.dumps(value, ensure_ascii=False, separators=(",", ":"))).replace("<", "\\u003c")
