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

from octavo.cli.help import plain, without_types, write_commands, write_examples
from octavo.cli.requests import spread
from octavo.plain import near, shortened


@dataclass(frozen=True)
class Command:
    """Where a command is defined, and what it does."""

    module: str
    """In `octavo.cli`; or the dotted name of a module outside the package, as for studies."""
    attribute: str
    """A function, in whose module EXAMPLES (and SETTINGS, COMMAND) are defined, or a group of commands."""
    group: str
    """Where help lists it."""
    summary: str
    """The line of `octavo --help` for it, the same as in its own help: so that the list needs no imports."""


SIMULATE, LOOK, PLACE, KNOW, PROGRAMS, MACHINES, STUDIES = (
    "Simulate",
    "Look at results",
    "Place the buffers of a program",
    "Look up names",
    "Make and read inputs",
    "Measure",
    "Run studies again",
)
"""Groups of commands, in the order in which help shows them."""


COMMANDS = {
    "run": Command(
        "run",
        "run",
        SIMULATE,
        "Run one scenario and write its results to a folder: scenario, summary and Parquet tables.",
    ),
    "compare": Command(
        "compare",
        "compare",
        SIMULATE,
        "Run placements, kinds of memory or ways to share it side by side: time, speed-up, faults, where time goes.",
    ),
    "sweep": Command(
        "sweep",
        "sweep",
        SIMULATE,
        "Run a scenario under many values of some of its keys: a grid, lists that step together, random draws, "
        "a search.",
    ),
    "demo": Command(
        "demo",
        "demo",
        SIMULATE,
        "Compare placements on a small kernel and open the report. Takes a minute and needs no preparation.",
    ),
    "report": Command(
        "report",
        "report",
        LOOK,
        "Write one self-contained page about runs: speed-ups, time by cause, traffic over time, a map of pages, "
        "and more.",
    ),
    "explain": Command(
        "explain",
        "explain",
        LOOK,
        "Say what bound a run, which buffers cause it and what would help, or where runs differ from the first.",
    ),
    "export": Command(
        "export", "export", LOOK, "Write a table of results, or all of them, as CSV, Parquet, or LaTeX for a paper."
    ),
    "advise": Command(
        "advise",
        "advise",
        PLACE,
        "Say where each buffer of a program should lie (device, managed, prefetched, pinned), what it gains, and why.",
    ),
    "fit": Command(
        "fit",
        "fit",
        PLACE,
        "Say whether a program fits into a GPU's memory: it fits, slows by how much, or fails; and what to move when.",
    ),
    "constants": Command(
        "constants",
        "constants",
        PLACE,
        "Print what `octavo advise` knows about a machine, with sources; with -o, write a file for the runtime "
        "library.",
    ),
    "transform": Command(
        "transform",
        "transform",
        PLACE,
        "Make a CUDA program ask for the placement of each buffer as it allocates. Shows the changes as a diff.",
    ),
    "record": Command(
        "record",
        "record",
        PLACE,
        "Run a CUDA program and record what it allocates, copies and launches, for `octavo advise`.",
    ),
    "apply": Command(
        "apply",
        "apply",
        PLACE,
        "Run a CUDA program with its buffers allocated, moved, and copied by the host, as `octavo advise` says.",
    ),
    "list": Command(
        "listing",
        "list_",
        KNOW,
        "List presets of nodes and memory systems, workloads and strategies; `octavo show` says more of one.",
    ),
    "show": Command(
        "show",
        "show",
        KNOW,
        "Show one workload, node, memory system or strategy: what it is, its options and where it comes from.",
    ),
    "schema": Command("schema", "schema", KNOW, "Print the JSON schema of scenario files, for editors."),
    "workload": Command("workload", "app", KNOW, "Inspect workloads without a memory system."),
    "trace": Command("trace", "app", PROGRAMS, "Inspect, check and convert recorded traces."),
    "import": Command(
        "import_", "app", PROGRAMS, "Import profiles of real programs into the tables of simulated runs."
    ),
    "new": Command("new", "app", PROGRAMS, "Write a commented template."),
    "node": Command("node", "app", MACHINES, "Check nodes against what their own values promise."),
    "calibrate": Command(
        "calibrate",
        "app",
        MACHINES,
        "Measure a GPU's memory system once: bandwidths, latencies, what page faults cost.",
    ),
    "profile": Command(
        "profile",
        "profile",
        MACHINES,
        "Run any program and sample its memory by NUMA node and mapping, its page faults, and GPU memory.",
    ),
    "reproduce": Command("octavo_studies.reproduce", "app", STUDIES, "Run published studies again."),
    "validate": Command(
        "octavo_studies.validate.command",
        "app",
        STUDIES,
        "Compare with other simulators, and with real GPUs that were measured.",
    ),
}


class Imported(MutableMapping[str, Any]):
    """Commands that are imported when they are first used."""

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

    def list_commands(self, _ctx: Any) -> list[str]:
        """Their names."""
        return list(COMMANDS)

    def get_params(self, ctx: Any) -> Any:
        """Its own options, as help shows them."""
        return without_types(super().get_params(ctx), ctx)

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        """Handle what is typed before the name of a command."""
        with _short_errors():
            return super().make_context(*arguments, **more)

    def invoke(self, ctx: Any) -> Any:
        """A command, and what follows its name."""
        with _short_errors():
            return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Commands in their groups, then the options of all."""
        for group in dict.fromkeys(command.group for command in COMMANDS.values()):
            write_commands(
                group, {name: one.summary for name, one in COMMANDS.items() if one.group == group}, formatter
            )
        options = [record for each in self.get_params(ctx) if (record := each.get_help_record(ctx)) is not None]
        with formatter.section("Options"):
            formatter.write_dl(options)

    def format_epilog(self, _ctx: Any, formatter: Any) -> None:
        """Examples."""
        write_examples(self.epilog, formatter)


@contextmanager
def _short_errors() -> Iterator[None]:
    """Usage errors quote what was typed, however long it is, and name the choice that was probably meant."""
    try:
        yield
    except Exception as raised:
        error: Any = raised
        if hasattr(error, "format_message") and isinstance(getattr(error, "message", None), str):
            error.message = shortened(_with_nearest(_in_other_case(error.message, error)))
        raise


def _in_other_case(message: str, error: Any) -> str:
    """A message about a command, with the name that was probably meant."""
    typed = re.match(r"No such command '(.*?)'\.$", message)
    context = getattr(error, "ctx", None)
    if typed is None or context is None:
        return message
    hint = near(typed[1], list(context.command.commands))
    return f"{message} {hint[0].upper()}{hint[1:]}" if hint else message


def _with_nearest(message: str) -> str:
    """A message about a value that is none of the choices, with the nearest of them."""
    message = message.replace("Value error, ", "")
    typed, found, choices = message.partition(" is not one of ")
    value = typed.rpartition("'")[0].rpartition("'")[2]
    hint = near(value, re.findall("'(.+?)'", choices)) if found else None
    return f"{message} {hint[0].upper()}{hint[1:]}" if hint else message


def load(name: str, command: Command) -> Any:
    """Import a command."""
    where = import_module(command.module if "." in command.module else f"octavo.cli.{command.module}")
    found = getattr(where, command.attribute)
    owner = typer.Typer(rich_markup_mode=None)
    if isinstance(found, typer.Typer):
        owner.add_typer(found, name=name)
    else:
        settings, kind = getattr(where, "SETTINGS", None), getattr(where, "COMMAND", TyperCommand)
        owner.command(name, cls=kind, epilog=where.EXAMPLES, context_settings=settings)(spread(found))
    return plain(typer.main.get_group(owner).commands[name])
