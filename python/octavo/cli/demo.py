"""`octavo demo`."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from octavo.cli import options
from octavo.cli.comparison_text import pressures, show
from octavo.runs.progress import watching

EXAMPLES = options.examples("octavo demo", "octavo demo -o demo --no-open", "octavo demo --scale 1/16")

_WORKLOAD, _SCALE = "stencil2d", 1 / 64
_PLACEMENTS = ("on-touch", "access-counter", "duplication", "grit", "ideal")
_REPORT = "report.html"

Output = Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder of the results and the report.")]
Open = Annotated[
    bool, typer.Option("--open/--no-open", help="Show the report in the browser, if there is a browser and a screen.")
]


def demo(
    output: Output = Path("runs/demo"),
    scale: options.Scale = None,
    effort: options.Effort = options.EFFORT,
    force: options.Force = False,
    open_: Open = True,
    said: options.Said = options.SAID,
) -> None:
    """Compare placements on a small kernel and open the report. Takes a minute and needs no preparation."""
    from octavo.comparisons import compare  # noqa: PLC0415 - slow to import
    from octavo.report import report  # noqa: PLC0415 - slow to import

    sink = said.sink()
    with watching(quiet=said.quiet) as watch:
        comparison = compare(
            workloads=[_WORKLOAD],
            placements=_PLACEMENTS,
            scale=_SCALE if scale is None else scale,
            output=output,
            workers=effort.workers,
            force=force,
            watch=watch,
        )
    folders = [result.folder for result in comparison.results.values()]
    page = report(folders, output / _REPORT).resolve()
    sink.document({"folder": str(output), "report": str(page), **comparison.to_dict()})
    show(sink, comparison, pressures(comparison))
    shown = open_ and not said.as_json and not said.quiet and _has_screen() and webbrowser.open(page.as_uri())
    sink.say(f"Report{', open in the browser' if shown else ''}: {page}")


def _has_screen() -> bool:
    """Whether there is a screen to show a page on; without one, a browser would take over the terminal."""
    return sys.platform in ("win32", "darwin") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
