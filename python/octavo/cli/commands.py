"""The commands by name, each imported when it is used: what one of them needs costs the others no time."""

from __future__ import annotations

import re
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from octavo.plain import shortened


@dataclass(frozen=True)
class Command:
    """Where a command is, and what it does."""

    module: str
    attribute: str
    """A function, beside which EXAMPLES (and SETTINGS, COMMAND) stand, or several commands."""
    summary: str
    """What `octavo --help` says of it, as its own help does: so that nothing has to be imported for the list."""


COMMANDS = {
    "run": Command(
        "run", "run", "Run one scenario and write its results to a folder: scenario, summary and Parquet tables."
    ),
    "compare": Command(
        "compare",
        "compare",
        "Run placements, kinds of memory or ways to share it side by side: time, speed-up, faults, where time goes.",
    ),
    "advise": Command(
        "advise",
        "advise",
        "Say where each buffer of a program should lie (device, managed, pinned), what that gains, and why.",
    ),
    "transform": Command(
        "transform",
        "transform",
        "Make a CUDA program ask for the placement of each buffer as it allocates. Shows the changes as a diff.",
    ),
    "constants": Command(
        "constants",
        "constants",
        "Print what `octavo advise` knows of a machine, with sources; with -o as a file for the runtime library.",
    ),
    "sweep": Command(
        "sweep",
        "sweep",
        "Run a scenario under many values of some of its keys: a grid, lists that step together, random draws, "
        "a search.",
    ),
    "report": Command(
        "report",
        "report",
        "Write one self-contained page about runs: speed-ups, time by cause, traffic over time, a map of pages, "
        "and more.",
    ),
    "explain": Command(
        "explain",
        "explain",
        "Say what bound a run, which buffers cause it and what would help, or where runs differ from the first.",
    ),
    "export": Command("export", "export", "Write a table of results as CSV, or as LaTeX for a paper."),
    "demo": Command(
        "demo",
        "demo",
        "Compare placements on a small kernel and open the report. Takes a minute and needs no preparation.",
    ),
    "list": Command(
        "listing",
        "list_",
        "List presets of nodes and memory systems, workloads and strategies; `octavo show` says more of one.",
    ),
    "show": Command(
        "show",
        "show",
        "Show one workload, node, memory system or strategy: what it is, its options and where it comes from.",
    ),
    "calibrate": Command(
        "calibrate", "app", "Measure a GPU's memory system once: bandwidths, latencies, what page faults cost."
    ),
    "new": Command("new", "app", "Write a commented template."),
    "workload": Command("workload", "app", "Inspect workloads without a memory system."),
    "trace": Command("trace", "app", "Inspect, check and convert recorded traces."),
    "import": Command("import_", "app", "Import profiles of real programs into the tables of simulated runs."),
    "profile": Command(
        "profile",
        "profile",
        "Run any program and sample its memory by NUMA node and mapping, its page faults, and GPU memory.",
    ),
    "record": Command(
        "record",
        "record",
        "Run a CUDA program and record what it allocates, copies and launches, for `octavo advise`.",
    ),
    "apply": Command(
        "apply",
        "apply",
        "Run a CUDA program with its buffers allocated as a placement file of `octavo advise` says.",
    ),
    "reproduce": Command("reproduce", "app", "Run published studies again."),
    "validate": Command("validate", "app", "Compare with other simulators, and with real GPUs that were measured."),
    "schema": Command("schema", "schema", "Print the JSON schema of scenario files, for editors."),
}


class Imported(MutableMapping[str, Any]):
    """Commands that are imported as they are looked up."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self.known:
            self.known[name] = load(name, COMMANDS[name])
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
    """All commands."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes | {"commands": Imported()})
        self._listing = False

    def list_commands(self, _ctx: Any) -> list[str]:
        """Their names."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command; for the list of all of them, its name and summary alone."""
        if self._listing and cmd_name in COMMANDS:
            return TyperCommand(cmd_name, help=COMMANDS[cmd_name].summary)
        return super().get_command(ctx, cmd_name)

    def get_params(self, ctx: Any) -> Any:
        """Its own options, as help shows them."""
        return _without_types(super().get_params(ctx), ctx)

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        """What is typed before the name of a command."""
        with _short_errors():
            return super().make_context(*arguments, **more)

    def invoke(self, ctx: Any) -> Any:
        """A command, and what is typed behind its name."""
        with _short_errors():
            return super().invoke(ctx)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The help of the whole program."""
        self._listing = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._listing = False


@contextmanager
def _short_errors() -> Iterator[None]:
    """Errors of usage quote what was typed, however long that is, and name the choice that was likely meant."""
    try:
        yield
    except Exception as raised:
        error: Any = raised
        if hasattr(error, "format_message") and isinstance(getattr(error, "message", None), str):
            error.message = shortened(_with_nearest(error.message))
        raise


def _with_nearest(message: str) -> str:
    """A message about a value that is none of the choices, with the nearest of these."""
    import difflib  # noqa: PLC0415 - only when something is wrong

    message = message.replace("Value error, ", "")
    typed, found, choices = message.partition(" is not one of ")
    value = typed.rpartition("'")[0].rpartition("'")[2]
    near = difflib.get_close_matches(value, re.findall("'(.+?)'", choices), 1) if found else []
    return f"{message} Did you mean '{near[0]}'?" if near else message


def load(name: str, command: Command) -> Any:
    """Import a command."""
    where = import_module(f"octavo.cli.{command.module}")
    found = getattr(where, command.attribute)
    owner = typer.Typer(rich_markup_mode="rich")
    if isinstance(found, typer.Typer):
        owner.add_typer(found, name=name)
    else:
        settings, kind = getattr(where, "SETTINGS", None), getattr(where, "COMMAND", TyperCommand)
        owner.command(name, cls=kind, epilog=where.EXAMPLES, context_settings=settings)(found)
    return _wrapped(typer.main.get_group(owner).commands[name])


def _wrapped(command: Any) -> Any:
    """A command whose help is broken where the terminal ends, not where lines of the source do."""
    paragraphs = (command.help or "").split("\n\n")
    command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    parameters = command.get_params
    command.get_params = lambda ctx: _without_types(parameters(ctx), ctx)
    for each in getattr(command, "commands", {}).values():
        _wrapped(each)
    return command


_WORDS = {"<str>": "NAME", "<list[str]>": "NAMES", "<path>": "FILE", "<int>": "N", "<int range>": "N", "<bool>": ""}
"""What help says in place of types of Python."""


def _without_types(parameters: Any, ctx: Any) -> Any:
    """Parameters whose help names no types: switches have none to name, and arguments are named already."""
    for each in parameters:
        if hasattr(each, "display_type_rich"):  # Earlier versions of Typer name no types.
            found = each.display_type_rich(ctx)
            shown = "" if each.param_type_name == "argument" else _WORDS.get(found, found)
            each.display_type_rich = lambda ctx, shown=shown: shown
    return parameters
