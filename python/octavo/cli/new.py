"""`octavo new`: commented files to begin with."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from octavo import folder
from octavo.cli import options
from octavo.cli.sink import Sink
from octavo.errors import OutputError

app = typer.Typer(help="Write a commented file to begin with.", no_args_is_help=True)

Target = Annotated[Path, typer.Argument(metavar="FILE", help="File to write.", show_default=False)]
Replace = Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")]


@app.callback()
def _group() -> None:
    pass


@app.command(epilog=options.examples("octavo new sweep sweep.toml", "octavo sweep sweep.toml"))
def sweep(file: Target, force: Replace = False, quiet: options.Quiet = False) -> None:
    """Write a small sweep that runs as it is, with every kind of axis explained."""
    write(file, "sweep.toml", force=force)
    Sink(as_json=False, quiet=quiet).say(f"{file} is written; run it with: octavo sweep {file}")


def write(file: Path, template: str, *, force: bool) -> None:
    """Copy a template to `file`.

    Raises:
        OutputError: the file exists already, and `force` does not allow to replace it, or it cannot be written.

    """
    if file.exists() and not force:
        raise OutputError(f"{file} exists already", "choose another name, or replace it with --force")
    try:
        folder.write_text(file, (files("octavo") / "templates" / template).read_text(encoding="utf-8"))
    except OSError as error:
        raise OutputError(f"cannot write {file}: {error.strerror}") from error
