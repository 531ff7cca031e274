"""`octavo reproduce`: a command for each study."""

from __future__ import annotations

import typer

from octavo_studies.grace_hopper import command as grace_hopper
from octavo_studies.grit import command as grit
from octavo_studies.harvest import command as harvest
from octavo_studies.memmap import command as memmap
from octavo_studies.mosaic import command as mosaic

app = typer.Typer(help="Run published studies again.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    pass


app.command(epilog=grit.EXAMPLES)(grit.grit)
app.command(epilog=mosaic.EXAMPLES)(mosaic.mosaic)
app.command(epilog=harvest.EXAMPLES)(harvest.harvest)
app.command(epilog=memmap.EXAMPLES)(memmap.memmap)
app.command(name="grace-hopper", epilog=grace_hopper.EXAMPLES)(grace_hopper.grace_hopper)
