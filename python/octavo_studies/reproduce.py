"""`octavo reproduce`: a command for each study."""

from __future__ import annotations

import typer

from octavo_studies.grace_hopper import command as grace_hopper
from octavo_studies.grit import command as grit
from octavo_studies.harvest import command as harvest
from octavo_studies.memmap import command as memmap
from octavo_studies.mosaic import command as mosaic

STUDIES = (grit.COMMAND, mosaic.COMMAND, harvest.COMMAND, memmap.COMMAND, grace_hopper.COMMAND)
"""In the order in which help lists them."""

app = typer.Typer(help="Run published studies again.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    pass


for study in STUDIES:
    study.add_to(app)
