"""`octavo report`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from octavo.cli import options

EXAMPLES = options.examples(
    "octavo report runs/stencil2d-on-touch runs/stencil2d-grit -o stencil2d.html",
    "octavo report runs/advice -o advice.html",
    "octavo report runs/compare-fir-1a2b3c4d",
    "octavo report runs/grit --baseline duplication --max-size 32",
)

Runs = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN",
        help="Folders of results, of experiments with results below them, or of advice (octavo advise -o).",
    ),
]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="File of the page.")]
Baseline = Annotated[
    str | None,
    typer.Option("--baseline", help="Variant that speed-ups are relative to; on-touch, or the first, if left out."),
]
MaxSize = Annotated[
    int,
    typer.Option(
        "--max-size",
        metavar="MIB",
        min=4,
        help="Approximate size of the report. Beyond it, pages with the most events lose the middle of their history.",
    ),
]


def report(
    runs: Runs,
    output: Output = Path("report.html"),
    baseline: Baseline = None,
    max_size: MaxSize = 16,
    said: options.Said = options.SAID,
) -> None:
    """Write one self-contained page about runs: speed-ups, time by cause, traffic over time, a map of pages, and more.

    Single events are in the page map if they were recorded, which --set record.events=false turns off.
    """
    from octavo.report import report as write  # noqa: PLC0415 - the charts' library takes long to import

    sink = said.sink()
    silent = said.quiet or said.as_json
    path = write(
        runs,
        output,
        baseline=baseline,
        mebibytes=max_size,
        watch=None if silent else lambda line: print(line, file=sys.stderr, flush=True),
    )
    size = path.stat().st_size
    sink.document({"report": str(path), "bytes": size})
    sink.say(f"Report: {path} ({size / (1 << 20):.1f} MiB)")
