"""`octavo schema`."""

from __future__ import annotations

import json

import typer

from octavo.cli import options
from octavo.scenarios import catalogue

EXAMPLES = options.examples(
    "octavo schema > scenario.schema.json",
    "head -1 scenario.toml  # #:schema ./scenario.schema.json",
)


def schema() -> None:
    """Print the JSON schema of scenario files, for editors."""
    typer.echo(json.dumps(catalogue.schema(), indent=2, ensure_ascii=False))
