"""The comparison as tables of words, for terminals and for Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo_studies.validate.programs import records
from octavo_studies.validate.programs.times import PHASES
from octavo_studies.validate.tables import Table, between_marks, check_marks

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    import polars as pl

    from octavo_studies.validate.programs.order import Order
    from octavo_studies.validate.programs.study import ProgramsValidation

_NAMES = {"total": "total", "kernels_event": "kernels", "kernels_run": "kernels by a profiler"}
_BY = {"total": "total time", "kernels_event": "time of kernels", "kernels_run": "time of kernels"}
_HEADS = {
    "faults": "GPU faults",
    "groups": "groups",
    "by_fault": "MB by fault",
    "by_prefetch": "by prefetch",
    "by_user": "by the program",
    "cpu_faults": "CPU faults",
    "back": "MB back",
}
_BYTES = ("by_fault", "by_prefetch", "by_user", "back")


def summary(found: ProgramsValidation) -> list[Table]:
    """How far kernel times and totals are apart, and whether kinds come in the same order."""
    return [_errors(found), *(_orders(found, time) for time in found.judged)]


def runs(found: ProgramsValidation) -> list[Table]:
    """Times and counts, program by program."""
    whole = [_phases(found)] if "total" in found.judged else []
    return [_kernels(found), *whole, *([] if found.counts is None else [_records(found.counts)])]


def said(found: ProgramsValidation) -> str:
    """The whole in a sentence or two."""
    time = found.judged[0]
    orders = list(found.orders(time).values())
    best = sum(order.measured[0] == order.simulated[0] for order in orders)
    alike, pairs = sum(order.alike for order in orders), sum(order.pairs for order in orders)
    left_out = "".join(f" Left out: {name} ({why})." for name, why in found.left_out.items())
    if not orders:
        return f"Too few kinds of memory to put in order.{left_out}"
    return (
        f"By {_BY[time]}, the simulated best kind of memory is the measured best in {best} of {len(orders)} programs. "
        f"{alike} of {pairs} pairs of kinds are ordered alike.{left_out}"
    )


def _errors(found: ProgramsValidation) -> Table:
    times = found.judged[::-1]
    tables = [found.errors(time).to_dicts() for time in times]
    rows = [
        [row[0]["kind"], str(row[0]["programs"]), *(cell for one in row for cell in _error(one))]
        for row in zip(*tables, strict=True)
    ]
    columns = [head for time in times for head in (f"{_NAMES[time]}: median error", "worst", "which")]
    return Table("Errors by kind of memory", ["kind", "programs", *columns], rows)


def _error(row: dict[str, Any]) -> list[str]:
    return [f"{row['median']:.0%}", f"{row['worst']:+.0%}", f"{row['program']} {row['scale']:g}"]


def _pairs(found: ProgramsValidation) -> Table:
    """How many pairs of kinds come in the same order, over all programs."""
    rows = []
    for time in found.judged:
        orders = found.orders(time).values()
        rows.append([f"by {_NAMES[time]}", *_alike(orders), f"{max((one.regret for one in orders), default=0):.0%}"])
    columns = ["order of kinds", "pairs alike", "of those whose quartiles do not overlap", "largest regret"]
    return Table("Order of kinds of memory", columns, rows)


def _alike(orders: Collection[Order]) -> tuple[str, str]:
    alike, pairs, apart_alike, apart = (
        sum(getattr(order, name) for order in orders) for name in ("alike", "pairs", "told_apart_alike", "told_apart")
    )
    return f"{alike} of {pairs}", f"{apart_alike} of {apart}"


def _orders(found: ProgramsValidation, time: str) -> Table:
    orders = found.orders(time)
    rows = [
        [
            f"{program} {scale:g}",
            ", ".join(order.measured),
            ", ".join(order.simulated),
            f"{order.alike} of {order.pairs}",
            f"{order.regret:.0%}",
        ]
        for (program, scale), order in orders.items()
    ]
    alike, apart = _alike(orders.values())
    title = (
        f"Order of kinds by {_NAMES[time]}, the fastest first: {alike} pairs are alike, "
        f"{apart} whose measured quartiles do not overlap"
    )
    return Table(title, ["program, scale", "measured", "simulated", "pairs alike", "regret"], rows)


_KERNELS = {
    "kernels_event": "by events on the GPU",
    "kernels": "from the first launch to the end of the last, by the host's clock",
    "kernels_run": "by a profiler",
}
"""The times of kernels, and by whose clock each is."""


def _kernels(found: ProgramsValidation) -> Table:
    there = [name for name in _KERNELS if name in set(found.rows["time"])]
    rows = []
    for place, part in _parts(found.rows):
        cells = []
        for row in (part[name] for name in there):
            cells += [f"{_ms(row['measured'])} ({_ms(row['low'])}–{_ms(row['high'])})", _ms(row["simulated"])]
            cells.append(_percent(row["error"]))
        rows.append([place, *cells])
    columns = ["measured (quartiles)", "simulated", "error"] * len(there)
    title = f"Kernels in ms: {'; then '.join(_KERNELS[name] for name in there)}"
    return Table(title, ["program, scale, kind", *columns], rows)


def _phases(found: ProgramsValidation) -> Table:
    rows = []
    for place, part in _parts(found.rows):
        total = part["total"]
        spread = f"{_ms(total['measured'])} ({_ms(total['low'])}–{_ms(total['high'])})"
        cells = [f"{_ms(part[name]['measured'])} / {_ms(part[name]['simulated'])}" for name in PHASES]
        rows.append([place, spread, _ms(total["simulated"]), _percent(total["error"]), *cells])
    columns = ["program, scale, kind", "total (quartiles)", "simulated", "error", *PHASES]
    return Table("Totals in ms, and phases: measured / simulated", columns, rows)


def _records(counts: pl.DataFrame) -> Table:
    rows = [
        [
            f"{row['program']} {row['scale']:g} {row['kind']}",
            *(f"{_count(row, name)} / {_count(row, f'simulated_{name}')}" for name in records.COUNTS),
        ]
        for row in counts.to_dicts()
    ]
    columns = ["program, scale, kind", *(_HEADS[name] for name in records.COUNTS)]
    return Table("Faults, and what moved and why: recorded / simulated", columns, rows)


def _count(row: dict[str, Any], name: str) -> str:
    if row[name] is None:
        return "–"
    return f"{row[name] / 1e6:.1f}" if name.removeprefix("simulated_") in _BYTES else f"{row[name]:,}"


def _parts(rows: pl.DataFrame) -> list[tuple[str, dict[str, dict[str, Any]]]]:
    """All times of each program, scale and kind, by name."""
    parts = rows.partition_by("program", "scale", "kind", maintain_order=True)
    return [
        (f"{part['program'][0]} {part['scale'][0]:g} {part['kind'][0]}", {row["time"]: row for row in part.to_dicts()})
        for part in parts
    ]


def _ms(seconds: float) -> str:
    """Milliseconds, to three digits."""
    value = 1e3 * seconds
    return f"{value:.0f}" if value >= 100 else f"{value:#.3g}" if value >= 0.01 else "0"


def _percent(error: float | None) -> str:
    return "–" if error is None else f"{error:+.0%}"


def write_markdown(path: Path, found: ProgramsValidation, name: str) -> None:
    """Put the errors and how many pairs of kinds come in the same order between a machine's marks in a document.

    Errors as `check_markdown`.
    """
    text = "\n".join([f"{said(found)}\n", _errors(found).markdown(), _pairs(found).markdown()])
    between_marks(path, marks(name), text)


def check_markdown(path: Path, name: str) -> None:
    """Check, before anything runs, that `write_markdown` can write to a document; errors as `check_marks`."""
    check_marks(path, marks(name))


def marks(name: str) -> tuple[str, str]:
    """Around what the command writes of a machine."""
    text = f"octavo validate programs --markdown, {name} -->"
    return f"<!-- begin: {text}", f"<!-- end: {text}"
