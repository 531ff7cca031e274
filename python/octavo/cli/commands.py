"""The commands by name, each imported when it is asked for: what one of them needs costs the others no time."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

# Name to module and what it is in there: a function, beside which EXAMPLES (and SETTINGS) stand, or several commands.
COMMANDS = {
    "run": ("run", "run"),
    "compare": ("compare", "compare"),
    "advise": ("advise", "advise"),
    "sweep": ("sweep", "sweep"),
    "report": ("report", "report"),
    "explain": ("explain", "explain"),
    "list": ("listing", "list_"),
    "calibrate": ("calibrate", "app"),
    "new": ("new", "app"),
    "workload": ("workload", "app"),
    "trace": ("trace", "app"),
    "import": ("import_", "app"),
    "profile": ("profile", "profile"),
    "reproduce": ("reproduce", "app"),
    "validate": ("validate", "app"),
    "schema": ("schema", "schema"),
}


class Imported(MutableMapping[str, Any]):
    """Commands that are imported as they are looked up."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self.known:
            self.known[name] = load(name, *COMMANDS[name])
        return self.known[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self.known[name] = command

    def __delitem__(self, name: str) -> None:
        del self.known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class Commands(TyperGroup):
    """All of them."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes | {"commands": Imported()})


def load(name: str, module: str, attribute: str) -> Any:
    """Import a command."""
    where = import_module(f"octavo.cli.{module}")
    found = getattr(where, attribute)
    owner = typer.Typer(rich_markup_mode="rich")
    if isinstance(found, typer.Typer):
        owner.add_typer(found, name=name)
    else:
        owner.command(name, epilog=where.EXAMPLES, context_settings=getattr(where, "SETTINGS", None))(found)
    return typer.main.get_group(owner).commands[name]
