"""`octavo export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from octavo.cli import options
from octavo.cli.sink import Sink
from octavo.errors import OutputError
from octavo.files import disk
from octavo.files.replacement import check_free

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

EXAMPLES = options.examples(
    "octavo export runs/compare-fir-1a2b3c4d",
    "octavo export runs/service -o service.tex",
    "octavo export runs/first --format latex -o tables",
    "octavo export runs/first --table allocations --columns allocation,bytes,migration -o first.csv",
)
Format = Literal["csv", "latex", "parquet"]
_ENDINGS: dict[str, Format] = {".csv": "csv", ".tex": "latex", ".parquet": "parquet"}
_SUFFIXES = {form: ending for ending, form in _ENDINGS.items()}

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="A run, comparison, sweep, advice, profile or trace.")]
Table = Annotated[
    str | None,
    typer.Option("--table", metavar="NAME", help="Name of the table in the folder.", show_default="points"),
]
Columns = Annotated[
    list[str] | None,
    typer.Option("--columns", metavar="NAMES", help="Columns, separated by commas; all if left out."),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="A .csv, .tex or .parquet file; without --table, a folder takes all tables. Standard output if left out.",
    ),
]
Form = Annotated[
    Format | None,
    typer.Option("--format", help="What to write; as the file's name ends, or else CSV, if left out."),
]


def export(
    folder: Folder,
    table: Table = None,
    columns: Columns = None,
    form: Form = None,
    output: Output = None,
    force: options.Force = False,
) -> None:
    """Write a table of results, or all of them, as CSV, Parquet, or LaTeX for a paper.

    CSV and Parquet have every column as it was recorded. LaTeX (booktabs) has times in milliseconds and, unless columns
    are named, of all measures only time, speed-up and faults.
    """
    from octavo.runs import export as tables  # noqa: PLC0415 - polars takes long to import

    chosen = [name for each in columns or () for name in each.split(",")]
    wanted = _format(form, output)
    sink = Sink(as_json=False)
    if output is not None and not output.suffix and table is None:
        if chosen:
            message = "--columns: expected with one table, found without --table and with a folder for all of them"
            raise OutputError(message, "name the table with --table", code="conflict", key="columns")
        names = tables.names(folder)
        files = {name: output / f"{name}{_SUFFIXES[wanted]}" for name in names}
        found = {name: tables.table(folder, name, ()) for name in names}
        _write({files[name]: _content(each, wanted, chosen) for name, each in found.items()}, force=force)
        sink.say(f"{len(names)} tables: {output}")
        return
    whole = tables.table(folder, table or tables.USUAL, chosen)
    content = _content(whole, wanted, chosen)
    if output is not None:
        file = output if output.suffix else output.with_suffix(_SUFFIXES[wanted])
        _write({file: content}, force=force)
        sink.say(f"{whole.height} rows: {file}")
    elif isinstance(content, str):
        typer.echo(content, nl=False)
    else:
        raise OutputError(
            "--format parquet: expected a file for it, found none", "name one: -o FILE.parquet", key="output"
        )


def _format(form: Format | None, output: Path | None) -> Format:
    """What to write.

    Raises:
        OutputError: a file's name says something else, or nothing that is known.

    """
    if output is None or not output.suffix:
        return form or "csv"
    named = _ENDINGS.get(output.suffix)
    if named is None:
        endings = ", ".join(_ENDINGS)
        raise OutputError(f"{output} has no known format", f"expected a name that ends in {endings}", file=output)
    if form not in (None, named):
        message = f"--format {form}: expected a file that ends in {_SUFFIXES[form]}, found {output}"
        raise OutputError(message, code="conflict", key="format", expected=_SUFFIXES[form], found=output.suffix)
    return named


def _content(whole: pl.DataFrame, form: Format, chosen: Sequence[str]) -> str | bytes:
    """A table as it is written."""
    from octavo.runs import export as tables  # noqa: PLC0415 - polars takes long to import

    if form == "parquet":
        return tables.packed(whole)
    if form == "csv":
        return tables.csv(whole)
    return tables.latex(whole if chosen else tables.brief(whole))


def _write(contents: Mapping[Path, str | bytes], *, force: bool) -> None:
    """Write files, of which none may be there before.

    Raises:
        OutputError: one is, or cannot be written.

    """
    for file in contents:
        check_free(file, force=force)
    for file, content in contents.items():
        disk.check_writable(file.parent)
        disk.write_bytes(file, content.encode() if isinstance(content, str) else content)
