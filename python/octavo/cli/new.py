"""`octavo new`: commented files to begin with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path  # noqa: TC003 - requests are read when commands are made
from typing import Annotated

import typer

from octavo.cli import options
from octavo.cli.requests import Group
from octavo.cli.sink import Sink
from octavo.errors import OutputError
from octavo.files import disk
from octavo.files.replacement import check_free
from octavo.policies import new

app = Group(help="Write a commented template.", no_args_is_help=True)


@dataclass(frozen=True)
class Template:
    """A file to write."""

    file: Annotated[Path, typer.Argument(metavar="FILE", help="File to write.", show_default=False)]
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False
    quiet: options.Quiet = False

    def policy(self, kind: str, run: str) -> None:
        """Write a policy of a kind; `run` is a command that runs it."""
        name = new.class_name(self.file.stem)
        self.write(new.template(kind, self.file), f"{self.file} is written, with the class {name}; run it with: {run}")

    def write(self, text: str, said: str) -> None:
        """Write a template, and say so."""
        write(self.file, text, force=self.force)
        Sink(as_json=False, quiet=self.quiet).say(said)


_RUN = "octavo run --workload stencil2d --scale 0.0625"
_JOBS = "octavo run --workload stencil2d+fir --scale 0.0625"


@app.callback()
def _group() -> None:
    pass


@app.command(epilog=options.examples("octavo new placement my_policy.py", f"{_RUN} --placement my_policy.py"))
def placement(template: Template) -> None:
    """Write a placement policy in Python that runs as it is: where a page goes when a GPU touches it."""
    template.policy("placement", f"{_RUN} --placement {template.file}")


@app.command(epilog=options.examples("octavo new prefetch my_policy.py", f"{_RUN} --prefetch my_policy.py"))
def prefetch(template: Template) -> None:
    """Write a prefetch policy in Python that runs as it is: which pages come along when others migrate."""
    template.policy("prefetch", f"{_RUN} --prefetch {template.file}")


@app.command(epilog=options.examples("octavo new eviction my_policy.py", f"{_RUN} --eviction my_policy.py"))
def eviction(template: Template) -> None:
    """Write an eviction policy in Python that runs as it is: which pages leave a full memory."""
    run = f"{_RUN} --eviction {template.file} --set node.capacity.footprint_percent=20"
    template.policy("eviction", run)


@app.command(epilog=options.examples("octavo new demotion my_policy.py", f"{_RUN} --demotion my_policy.py"))
def demotion(template: Template) -> None:
    """Write a demotion in Python that runs as it is: where victims go, and which pages leave ahead of need."""
    run = f"{_RUN} --eviction lru-block --demotion {template.file} --set node.capacity.footprint_percent=20"
    template.policy("demotion", run)


@app.command(epilog=options.examples("octavo new sharing my_policy.py", f"{_JOBS} --sharing my_policy.py"))
def sharing(template: Template) -> None:
    """Write a sharing in Python that runs as it is: whose pages leave when jobs fill a memory."""
    run = f"{_JOBS} --sharing {template.file} --set node.capacity.footprint_percent=70"
    template.policy("sharing", run)


@app.command(epilog=options.examples("octavo new guard my_policy.py", f"{_RUN} --guard my_policy.py"))
def guard(template: Template) -> None:
    """Write a guard in Python that runs as it is: what happens when processors compete for a page."""
    template.policy("guard", f"{_RUN} --guard {template.file}")


@app.command(epilog=options.examples("octavo new workload my_workload.py", "octavo run my_workload.py"))
def workload(template: Template) -> None:
    """Write a workload in Python that runs as it is: its buffers, its launches, and which lines they touch."""
    if not template.file.suffix:
        template = replace(template, file=template.file.with_suffix(".py"))
    template.policy("workload", f"octavo run {template.file}")


@app.command(epilog=options.examples("octavo new sweep sweep.toml", "octavo sweep sweep.toml"))
def sweep(template: Template) -> None:
    """Write a small sweep that runs as it is, with every kind of axis explained."""
    text = (files("octavo") / "templates" / "sweep.toml").read_text(encoding="utf-8")
    template.write(text, f"{template.file} is written; run it with: octavo sweep {template.file}")


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
