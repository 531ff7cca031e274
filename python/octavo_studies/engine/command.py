"""The command of a study: its own options beside those that all studies share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import typer

from octavo.cli import footprint, options
from octavo.cli.requests import spread
from octavo.runs.execute import Progress  # noqa: TC001 - as above
from octavo.runs.progress import watching
from octavo.runs.unsourced_values import Decided, sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from octavo.cli.sink import Sink
    from octavo_studies.engine.tables import Shown


@dataclass(frozen=True)
class Asked(options.Kept, options.Effort, options.Changes):
    """What was asked by options that studies share; None of those that a study does not have."""

    seed: options.Seed = None
    fidelity: options.Fidelity = None
    watch: Callable[[Progress], None] | None = None
    """No option: told how far runs are."""

    def overrides(self, scale: float | None) -> tuple[str, ...]:
        """Changes to every scenario; `scale` is one of them where the study does not set it itself."""
        return tuple(options.overrides(self.assignments, scale, self.seed, fidelity=self.fidelity))

    @property
    def how(self) -> dict[str, Any]:
        """Fields of any study."""
        return {"workers": self.workers, "force": self.force, "watch": self.watch}


_SHARED = {"asked": Asked(), "said": options.SAID}


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

    def add_to(self, app: typer.Typer) -> None:
        """Make it a command of `app`."""

        def command(asked: Asked, said: options.Said, **own: Any) -> None:
            self._run(asked, said, own)

        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        own = list(inspect.signature(self.answer, eval_str=True).parameters.values())[1:]
        shared = [inspect.Parameter(name, kind, annotation=type(of), default=of) for name, of in _SHARED.items()]
        command.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]  # what is spread
        command.__annotations__ = {one.name: one.annotation for one in (*own, *shared)}
        command.__doc__ = self.answer.__doc__
        app.command(self.name, epilog=options.examples(*self.examples))(spread(command, {"watch", *self.without}))

    def _run(self, asked: Asked, said: options.Said, own: dict[str, Any]) -> None:
        sink = said.sink()
        with watching(quiet=said.quiet) as watch:
            answer = self.answer(replace(asked, watch=watch), **own)
        for one in answer.shown:
            if isinstance(one, str):
                sink.tell(one)
            elif callable(one):
                one(sink)
            else:
                sink.table(one.title, one.columns, one.rows)
        footprint.tell_sizes(sink, [size for each in _all(answer.document, "sizes") for size in each])
        for note in dict.fromkeys(_nodes(answer.document)):
            sink.tell(f"Note: {note}")
        sink.document({"folder": str(answer.root), **answer.document})
        sink.say(f"{self.leaves}: {answer.root}")
        if answer.status:
            raise typer.Exit(answer.status)


def _nodes(document: Mapping[str, Any]) -> Iterator[str]:
    """What a study's report, or the reports of its parts, say of the nodes that ran, and which values decide there."""
    for node in (node for each in _all(document, "nodes") for node in each):
        yield node["sentence"]
        if said := sentence([Decided(**one) for one in node["decided"]]):
            yield said


def _all(document: Mapping[str, Any], key: str) -> Iterator[Any]:
    """The values of a key in a report, and in the reports of its parts."""
    for name, value in document.items():
        if name == key:
            yield value
        elif isinstance(value, Mapping):
            yield from _all(value, key)
