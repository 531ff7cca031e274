"""`octavo export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from octavo.cli import options
from octavo.cli.sink import Sink
from octavo.errors import OutputError
from octavo.files import disk
from octavo.files.replacement import check_free

EXAMPLES = options.examples(
    "octavo export runs/compare-fir-1a2b3c4d",
    "octavo export runs/service -o service.tex",
    "octavo export runs/first --table allocations --columns allocation,bytes,migration -o first.csv",
)
_CSV, _LATEX = ".csv", ".tex"

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="A run, comparison, sweep, advice, profile or trace.")]
Table = Annotated[str, typer.Option("--table", metavar="NAME", help="Name of the table in the folder.")]
Columns = Annotated[
    list[str] | None,
    typer.Option("--columns", metavar="NAMES", help="Columns, separated by commas; all if left out."),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="A .csv or .tex file; CSV on standard output if left out."),
]


def export(
    folder: Folder,
    table: Table = "points",
    columns: Columns = None,
    output: Output = None,
    force: options.Force = False,
) -> None:
    """Write a table of results as CSV, or as LaTeX for a paper.

    CSV has every column as it was recorded. LaTeX (booktabs) has times in milliseconds and, unless columns are named,
    of all measures only time, speed-up and faults.
    """
    from octavo.runs import export as tables  # noqa: PLC0415 - polars takes long to import

    if output is not None and output.suffix not in (_CSV, _LATEX):
        raise OutputError(
            f"{output} has no known format", f"expected a name that ends in {_CSV} or {_LATEX}", file=output
        )
    chosen = [name for each in columns or () for name in each.split(",")]
    found = tables.table(folder, table, chosen)
    if output is None:
        typer.echo(tables.csv(found), nl=False)
        return
    check_free(output, force=force)
    text = tables.csv(found) if output.suffix == _CSV else tables.latex(found if chosen else tables.brief(found))
    disk.write_text(output, text)
    Sink(as_json=False).say(f"{found.height} rows: {output}")
