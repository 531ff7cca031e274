"""The command of a study: its own options beside those that all studies share."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import typer

from octavo.cli import options
from octavo.cli.sink import Sink
from octavo.runs.progress import watching

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from octavo.runs.execute import Progress
    from octavo_studies.engine.shown import Shown

SHARED: Mapping[str, tuple[Any, Any]] = {
    "fidelity": (options.Fidelity, None),
    "assignments": (options.Set, None),
    "scale": (options.Scale, None),
    "seed": (options.Seed, None),
    "workers": (options.Workers, None),
    "_memory_limit": (options.MemoryLimit, None),
    "output": (options.Output, None),
    "force": (options.Force, False),
    "as_json": (options.Json, False),
    "quiet": (options.Quiet, False),
}
"""Options that studies share, with their defaults, in the order in which help has them."""


@dataclass(frozen=True)
class Asked:
    """What was asked by options that studies share; None of those that a study does not have."""

    output: Path | None
    workers: int | None
    force: bool
    watch: Callable[[Progress], None]
    assignments: list[str] | None = None
    scale: float | None = None
    seed: int | None = None
    fidelity: str | None = None

    def overrides(self, scale: float | None) -> tuple[str, ...]:
        """Changes to every scenario; `scale` is one of them where the study does not set it itself."""
        return tuple(options.overrides(self.assignments, scale, self.seed, fidelity=self.fidelity))

    @property
    def how(self) -> dict[str, Any]:
        """Fields of any study."""
        return {"workers": self.workers, "force": self.force, "watch": self.watch}


@dataclass(frozen=True)
class Answer:
    """What a command says in the end."""

    root: Path
    """Folder of the results."""
    document: Mapping[str, Any]
    """As JSON has it."""
    shown: Iterable[Shown | str | Callable[[Sink], object]]
    """Tables and sentences that are printed, or what prints them."""
    status: int = 0
    """Of the process; above 0 if what was found is not what was hoped for."""


@dataclass(frozen=True)
class Command:
    """A command of `octavo reproduce` or `octavo validate`."""

    name: str
    answer: Callable[..., Answer]
    """Its first argument is an `Asked`, and every other one an option of the study. Its docstring is the help."""
    examples: tuple[str, ...]
    without: tuple[str, ...] = ("fidelity",)
    """Shared options that it does not have."""
    leaves: str = "Results and pictures"
    """What its folder has."""
    shared: Mapping[str, tuple[Any, Any]] = field(init=False)

    def __post_init__(self) -> None:
        """Leave out the options that it does not have."""
        object.__setattr__(self, "shared", {key: one for key, one in SHARED.items() if key not in self.without})

    def add_to(self, app: typer.Typer) -> None:
        """Make it a command of `app`."""

        def command(**given: Any) -> None:
            self._run(given)

        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        own = list(inspect.signature(self.answer, eval_str=True).parameters.values())[1:]
        shared = [
            inspect.Parameter(key, kind, default=default, annotation=what)
            for key, (what, default) in self.shared.items()
        ]
        command.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]  # what Typer reads
        command.__annotations__ = {one.name: one.annotation for one in (*own, *shared)}
        command.__doc__ = self.answer.__doc__
        app.command(self.name, epilog=options.examples(*self.examples))(command)

    def _run(self, given: dict[str, Any]) -> None:
        shared = {key: given.pop(key) for key in self.shared}
        sink = Sink(as_json=shared.pop("as_json"), quiet=(quiet := shared.pop("quiet")))
        asked = {key: value for key, value in shared.items() if not key.startswith("_")}
        with watching(quiet=quiet) as watch:
            answer = self.answer(Asked(**asked, watch=watch), **given)
        for one in answer.shown:
            if isinstance(one, str):
                sink.tell(one)
            elif callable(one):
                one(sink)
            else:
                sink.table(one.title, one.columns, one.rows)
        sink.document({"folder": str(answer.root), **answer.document})
        sink.say(f"{self.leaves}: {answer.root}")
        if answer.status:
            raise typer.Exit(answer.status)
