"""Answers about recorded steps of PyTorch programs, for `octavo fit` and `octavo advise`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo import extras
from octavo.advice.step import ask
from octavo.advice.step.program import is_step
from octavo.errors import AdviceError
from octavo.files import disk
from octavo.plain import amount, seconds
from octavo.runs.comparison import experiment_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from octavo.advice.step.answer import Needs, Point
    from octavo.cli.sink import Sink

_BATCH = "workload.batch="
NEEDS_FILE = "needs.json"


def is_meant(program: str, others: Mapping[str, object], changes: Sequence[str]) -> bool:
    """Whether a question is about what a recorded step needs: nothing is asked of the simulation of its buffers."""
    asked = [name for name, value in others.items() if value]
    return is_step(program) and not asked and all(change.startswith(_BATCH) for change in changes)


def answer(
    sink: Sink,
    program: str,
    *,
    node: str | None,
    memory: str | None,
    changes: Sequence[str],
    output: Path | None,
    force: bool,
    with_code: bool,
) -> None:
    """Say what a step needs, whether it fits, and what to do."""
    needs = ask.ask(program, node=node, memory=memory, batch=_batch(changes))
    sink.document(needs.to_dict() if output is None else {"folder": str(output), **needs.to_dict()})
    for sentence in needs.sentences:
        sink.tell(sentence)
    sink.table("By role, when most is allocated", ["of what", "bytes", "advice"], needs.roles())
    if needs.singles and (with_code or needs.verdict == "fails"):
        columns = ["to save memory", "allocated", "held", "a step takes", "then it", "because"]
        sink.table("What can be done", columns, needs.options())
    _show_frontier(sink, needs)
    if with_code:
        _show_code(sink, needs)
    for note in (*needs.program.assumed, *needs.notes, needs.about.sentence):
        sink.tell(f"Note: {note}")
    if output is not None:
        _save(output, needs, force=force)
        sink.say(f"Answer and pictures: {output}")


def _batch(changes: Sequence[str]) -> int | None:
    """The batch size that was asked for.

    Raises:
        AdviceError: it is no number.

    """
    if not changes:
        return None
    text = changes[-1].removeprefix(_BATCH)
    try:
        return int(text)
    except ValueError:
        raise AdviceError(
            f"workload.batch: expected a whole number, found {text}", code="unexpected-value", key="batch"
        ) from None


def _show_frontier(sink: Sink, needs: Needs) -> None:
    if not needs.frontier:
        return
    names = " and ".join(lever.name for lever in needs.with_levers)
    beside: Sequence[Point | None] = needs.frontier_with or [None] * len(needs.frontier)
    rows = []
    for point, other in zip(needs.frontier, beside, strict=True):
        row = [f"{point.batch:,}", *_cells(point)]
        rows.append(row if other is None else [*row, *_cells(other)])
    columns = ["batch", "held", "a step takes", "it"]
    if needs.frontier_with:
        columns += [f"with {names}", "a step takes", "it"]
    sink.table("By batch size", columns, rows)


def _cells(point: Point) -> list[str]:
    return [amount(point.reserved), seconds(point.seconds), "fits" if point.fits else "fails"]


def _show_code(sink: Sink, needs: Needs) -> None:
    if needs.verdict == "fits":
        sink.say("Nothing needs to change: keep all of it on the GPU.")
        return
    if needs.together is not None:
        sink.say("What to write:")
        for line in needs.code:
            sink.say(f"  {line}" if line else "")


def _save(root: Path, needs: Needs, *, force: bool) -> None:
    from octavo.advice.step.picture import draw  # noqa: PLC0415 - who keeps nothing does without Matplotlib

    with experiment_folder(root, f"{needs.batch:08x}", force=force):
        disk.write_json(root / NEEDS_FILE, needs.to_dict())
        if extras.pictures() and needs.frontier:
            draw(needs).save(root / "frontier.png")
            draw(needs, dark=True).save(root / "frontier-dark.png")
