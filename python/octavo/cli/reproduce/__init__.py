"""`octavo reproduce`: a command for each study."""

from __future__ import annotations

import typer

from octavo.cli.reproduce import grace_hopper, grit, harvest, memmap, mosaic

app = typer.Typer(help="Run published studies again.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    pass


app.command(epilog=grit.EXAMPLES)(grit.grit)
app.command(epilog=mosaic.EXAMPLES)(mosaic.mosaic)
app.command(epilog=harvest.EXAMPLES)(harvest.harvest)
app.command(epilog=memmap.EXAMPLES)(memmap.memmap)
app.command(name="grace-hopper", epilog=grace_hopper.EXAMPLES)(grace_hopper.grace_hopper)
