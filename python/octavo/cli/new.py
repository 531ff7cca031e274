"""`octavo new`: commented files to begin with."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from octavo.cli import options
from octavo.cli.sink import Sink
from octavo.errors import OutputError
from octavo.files import disk
from octavo.files.replaced import check_free
from octavo.policies import new

app = typer.Typer(help="Write a commented template.", no_args_is_help=True)

Target = Annotated[Path, typer.Argument(metavar="FILE", help="File to write.", show_default=False)]
Replace = Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")]

_RUN = "octavo run --workload stencil2d --scale 0.0625"
_JOBS = "octavo run --workload stencil2d+fir --scale 0.0625"


@app.callback()
def _group() -> None:
    pass


@app.command(epilog=options.examples("octavo new placement my_policy.py", f"{_RUN} --placement my_policy.py"))
def placement(file: Target, force: Replace = False, quiet: options.Quiet = False) -> None:
    """Write a placement policy in Python that runs as it is: where a page goes when a GPU touches it."""
    _policy("placement", file, f"{_RUN} --placement {file}", force=force, quiet=quiet)


@app.command(epilog=options.examples("octavo new prefetch my_policy.py", f"{_RUN} --prefetch my_policy.py"))
def prefetch(file: Target, force: Replace = False, quiet: options.Quiet = False) -> None:
    """Write a prefetch policy in Python that runs as it is: which pages come along when others migrate."""
    _policy("prefetch", file, f"{_RUN} --prefetch {file}", force=force, quiet=quiet)


@app.command(epilog=options.examples("octavo new eviction my_policy.py", f"{_RUN} --eviction my_policy.py"))
def eviction(file: Target, force: Replace = False, quiet: options.Quiet = False) -> None:
    """Write an eviction policy in Python that runs as it is: which pages leave a full memory."""
    run = f"{_RUN} --eviction {file} --set node.capacity.footprint_percent=20"
    _policy("eviction", file, run, force=force, quiet=quiet)


@app.command(epilog=options.examples("octavo new demotion my_policy.py", f"{_RUN} --demotion my_policy.py"))
def demotion(file: Target, force: Replace = False, quiet: options.Quiet = False) -> None:
    """Write a demotion in Python that runs as it is: where victims go, and which pages leave ahead of need."""
    run = f"{_RUN} --eviction lru-block --demotion {file} --set node.capacity.footprint_percent=20"
    _policy("demotion", file, run, force=force, quiet=quiet)


@app.command(epilog=options.examples("octavo new sharing my_policy.py", f"{_JOBS} --sharing my_policy.py"))
def sharing(file: Target, force: Replace = False, quiet: options.Quiet = False) -> None:
    """Write a sharing in Python that runs as it is: whose pages leave when jobs fill a memory."""
    run = f"{_JOBS} --sharing {file} --set node.capacity.footprint_percent=70"
    _policy("sharing", file, run, force=force, quiet=quiet)


@app.command(epilog=options.examples("octavo new guard my_policy.py", f"{_RUN} --guard my_policy.py"))
def guard(file: Target, force: Replace = False, quiet: options.Quiet = False) -> None:
    """Write a guard in Python that runs as it is: what happens when processors compete for a page."""
    _policy("guard", file, f"{_RUN} --guard {file}", force=force, quiet=quiet)


@app.command(epilog=options.examples("octavo new workload my_workload.py", "octavo run my_workload.py"))
def workload(file: Target, force: Replace = False, quiet: options.Quiet = False) -> None:
    """Write a workload in Python that runs as it is: its buffers, its launches, and which lines they touch."""
    file = file if file.suffix else file.with_suffix(".py")
    _policy("workload", file, f"octavo run {file}", force=force, quiet=quiet)


@app.command(epilog=options.examples("octavo new sweep sweep.toml", "octavo sweep sweep.toml"))
def sweep(file: Target, force: Replace = False, quiet: options.Quiet = False) -> None:
    """Write a small sweep that runs as it is, with every kind of axis explained."""
    write(file, (files("octavo") / "templates" / "sweep.toml").read_text(encoding="utf-8"), force=force)
    Sink(as_json=False, quiet=quiet).say(f"{file} is written; run it with: octavo sweep {file}")


def _policy(kind: str, file: Path, run: str, *, force: bool, quiet: bool) -> None:
    text = new.template(kind, file)
    write(file, text, force=force)
    name = new.class_name(file.stem)
    Sink(as_json=False, quiet=quiet).say(f"{file} is written, with the class {name}; run it with: {run}")


def write(file: Path, text: str, *, force: bool) -> None:
    """Write a template to `file`.

    Raises:
        OutputError: the file exists already, and `force` does not allow to replace it, or it cannot be written.

    """
    check_free(file, force=force)
    try:
        disk.write_text(file, text)
    except OSError as error:
        raise OutputError(f"cannot write {file}: {error.strerror}", code="unwritable", file=file) from error
