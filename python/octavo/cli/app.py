"""The commands, and what happens when one of them fails."""

from __future__ import annotations

import os
import sys
from typing import Annotated, NoReturn

import typer

from octavo._core import VERSION
from octavo.addresses import NO_MORE
from octavo.cli import streams
from octavo.cli.commands import Commands
from octavo.cli.help import examples
from octavo.cli.option_names import as_typed
from octavo.cli.sink import Notes, complain
from octavo.errors import InterruptedRun, OctavoError
from octavo.runs import interrupts, memory

app = typer.Typer(
    cls=Commands,
    name="octavo",
    help="Decide where the pages of a GPU node's unified memory live, and see what every decision costs.",
    epilog=examples(
        "octavo demo",
        "octavo compare --workload fir --scale 0.0625",
        "octavo run scenario.toml -o runs/first",
        "octavo report runs/first -o first.html",
        "octavo list placements",
        "octavo reproduce grit --scale 0.0625",
    ),
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"octavo {VERSION}")
        raise typer.Exit


@app.callback()
def _root(
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; a mistake that the user can fix ends in a message and a status, never in a traceback."""
    streams.open_closed()
    streams.allow_all_letters()
    interrupts.take_sigterm()
    try:
        with Notes():
            try:
                app()
            finally:
                sys.stdout.flush()
    except OctavoError as error:
        error.message = as_typed(error.message, sys.argv[1:])
        complain(error)
        terminated = isinstance(error, InterruptedRun) and interrupts.was_terminated()
        sys.exit(interrupts.TERMINATED if terminated else error.exit_code)
    except RecursionError:
        complain(OctavoError("something that was given is nested too deeply"))
        sys.exit(OctavoError.exit_code)
    except MemoryError:
        complain(OctavoError(NO_MORE.replace("for it", "for Octavo"), memory.HINT))
        sys.exit(OctavoError.exit_code)
    except OSError as error:
        _give_up(error)
    except KeyboardInterrupt:
        if not interrupts.was_terminated():
            sys.exit(interrupts.INTERRUPTED)
        complain(OctavoError("stopped by SIGTERM"))
        sys.exit(interrupts.TERMINATED)


def _give_up(error: OSError) -> NoReturn:
    """The system refused something unexpected, such as writing to a full standard output."""
    where = error.filename if isinstance(error.filename, str) else "a file or the output"
    complain(OctavoError(f"cannot read or write {where}: {error.strerror or error}", code="unreadable"))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # What is still to be written is lost.
    sys.exit(OctavoError.exit_code)
