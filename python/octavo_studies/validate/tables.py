"""The validation as tables of words, for terminals and for Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from octavo.errors import OutputError
from octavo.files import disk
from octavo.files.text import read_text
from octavo_studies.validate.counts import COUNTS, WITHIN

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from octavo_studies.validate.counts import Count
    from octavo_studies.validate.study import Validation
    from octavo_studies.validate.summary import Summary

SUMMARY = ("<!-- begin: octavo validate mgpusim --markdown -->", "<!-- end: octavo validate mgpusim --markdown -->")


@dataclass(frozen=True)
class Table:
    """A title, columns, and rows of as many cells."""

    title: str
    columns: list[str]
    rows: list[list[str]]

    def markdown(self) -> str:
        """The table as Markdown, its first column to the left and all others to the right."""
        rule = ["---", *("---:" for _ in self.columns[1:])]
        lines = ["| " + " | ".join(cells) + " |" for cells in (self.columns, rule, *self.rows)]
        return f"**{self.title}**\n\n" + "\n".join(lines) + "\n"


def runs(found: Validation) -> list[Table]:
    """Kernel times and counts run by run."""
    rows = found.rows.to_dicts()
    return [_times(rows), *_counts(rows)]


def summary(found: Validation) -> list[Table]:
    """How far apart kernel times and counts are over all runs, beside the goals."""
    found_by_launch = _by_launch(found.summaries)
    return [
        _errors(found.summaries),
        *([found_by_launch] if found_by_launch.rows else []),
        _agreement(found.summaries),
    ]


def _run(row: dict[str, Any]) -> list[str]:
    mark = "" if row["reliable"] else " (!)"
    return [f"{row['benchmark']}{mark} {row['parameters']}", str(row["gpus"])]


def _times(rows: Sequence[dict[str, Any]]) -> Table:
    cells = [
        [
            *_run(row),
            f"{row['kernel_time_ps'] * 1e-6:,.2f}",
            f"{row['kernel_time_reference_ps'] * 1e-6:,.2f}",
            f"{row['kernel_time_error']:+.1%}",
            f"{row['kernel_time_net_error']:+.1%}",
            str(row["launches"]),
            *_by_its_launches(row),
        ]
        for row in rows
    ]
    columns = ["program", "GPUs", "found", "reference", "error", "net", "launches", "by launch", "worst launch"]
    return Table("Kernel time in µs", columns, cells)


def _by_its_launches(row: dict[str, Any]) -> list[str]:
    if row["launch_error"] is None:
        return ["–", "–"]
    return [f"{row['launch_error']:.1%}", f"{row['launch_worst']:+.1%}"]


def _counts(rows: Sequence[dict[str, Any]]) -> list[Table]:
    """Two tables: caches, and translation and memory."""
    groups = {
        "Counts of caches": ("vector_lines", "l1_hits", "l2_lines", "l2_hits"),
        "Counts of translation and memory": ("l1_tlb_hits", "l1_tlb_misses", "walks", "dram_reads", "remote"),
    }
    found = []
    for title, group in groups.items():
        chosen = [count for count in COUNTS if count.name in group]
        cells = [[*_run(row), *(_cell(row, count.name) for count in chosen)] for row in rows]
        labels = [count.label if count.judged else f"{count.label} (other unit)" for count in chosen]
        found.append(Table(f"{title}: found, error; alone where they are equal", ["program", "GPUs", *labels], cells))
    return found


def _cell(row: dict[str, Any], name: str) -> str:
    found, error = row[name], row[f"{name}_error"]
    if found == row[f"{name}_reference"]:
        return f"{found:,}"
    return f"{found:,} {'of 0' if error is None else f'{error:+.1%}'}"


def _errors(summaries: Sequence[Summary]) -> Table:
    rows = []
    for one in summaries:
        met, correlation = one.met(), one.rank_correlation
        rows.append(
            [
                _set(one),
                str(one.runs),
                f"{one.mape:.1%}",
                _goal(one.goals.mape, met=met["mape"]),
                f"{one.median:.1%}",
                f"{one.worst:+.1%}",
                _goal(one.goals.worst, met=met["worst"]),
                f"{one.near:.0%}",
                f"{one.net_mape:.1%}",
                f"{one.net_worst:+.1%}",
                "–" if correlation is None else f"{correlation:.4f}",
            ]
        )
    columns = ["runs on", "runs", "MAPE", "goal", "median", "worst", "goal", "within 15 %"]
    columns += ["net MAPE", "net worst", "Spearman"]
    return Table("Kernel time: errors and goals", columns, rows)


def _in_short(summaries: Sequence[Summary]) -> Table:
    rows = [
        [
            _set(one),
            str(one.runs),
            f"{one.mape:.1%}",
            f"{one.median:.1%}",
            f"{one.worst:+.1%}",
            f"{one.net_mape:.1%}",
            f"{one.net_worst:+.1%}",
        ]
        for one in summaries
    ]
    return Table("Kernel time: errors", ["runs on", "runs", "MAPE", "median", "worst", "net MAPE", "net worst"], rows)


def _by_launch(summaries: Sequence[Summary]) -> Table:
    """Launches one by one, of the runs whose launches the reference has."""
    rows = []
    for one in summaries:
        found = one.by_launch
        if found is None:
            continue
        rows.append(
            [
                _set(one),
                str(found.runs),
                str(found.launches),
                f"{found.mape:.1%}",
                f"{found.net_mape:.1%}",
                f"{found.worst:+.1%}",
                found.worst_launch,
                f"{found.of_sums:.1%}",
                f"{found.of_runs:.1%}",
            ]
        )
    columns = ["launches on", "runs", "launches", "MAPE", "net MAPE", "worst", "which", "MAPE of sums", "by launch"]
    return Table("Kernel time launch by launch", columns, rows)


def _agreement(summaries: Sequence[Summary]) -> Table:
    shown = [one for one in summaries if not one.with_unreliable] or list(summaries)
    rows = []
    for count in COUNTS:
        cells = [count.label]
        for one in shown:
            shares = one.counts[count.name]
            cells += [f"{shares['within']:.0%}", f"{shares['within_but_code']:.0%}" if count.code else "–"]
            cells.append(f"{shares['total']:+.2%}" if "total" in shares else "–")
            cells.append(_verdict(one, count))
        rows.append(cells)
    columns = [
        "count",
        *(f"{_gpus(one.gpus)}: {head}" for one in shown for head in ("within", "without fetches", "sum", "goal")),
    ]
    title = f"Counts: share of the runs within {WITHIN:.0%}; the same except for instruction fetches; error of the sum"
    return Table(title, columns, rows)


def _verdict(one: Summary, count: Count) -> str:
    if not count.judged:
        return "not judged"
    return "met" if one.met()[count.name] else "missed"


def _set(one: Summary) -> str:
    return _gpus(one.gpus) + (" and (!)" if one.with_unreliable else "")


def _gpus(count: int) -> str:
    return f"{count} GPU{'s' if count > 1 else ''}"


def _goal(goal: float, *, met: bool) -> str:
    return f"{goal:.0%} {'met' if met else 'missed'}"


def write_markdown(path: Path, found: Validation) -> None:
    """Put errors and counts into a document, or, where it has marks of this reference's folder, the errors in short.

    Errors as `between_marks`.
    """
    own = marks_of(found.reference)
    if own[0] in _read(path, SUMMARY):
        between_marks(path, own, _in_short(found.summaries).markdown())
    else:
        tables = (_errors(found.summaries), _agreement(found.summaries))
        between_marks(path, SUMMARY, "\n".join(table.markdown() for table in tables))


def check_markdown(path: Path, reference: Path | None) -> None:
    """Check, before anything runs, that `write_markdown` can write to a document; errors as `between_marks`."""
    own = SUMMARY if reference is None else marks_of(reference)
    check_marks(path, own if own[0] in _read(path, SUMMARY) else SUMMARY)


def marks_of(reference: Path) -> tuple[str, str]:
    """Around what a document says of a reference, by the name of its folder."""
    text = f"octavo validate mgpusim --markdown, {reference.resolve().parent.name} -->"
    return f"<!-- begin: {text}", f"<!-- end: {text}"


def between_marks(path: Path, marks: tuple[str, str], text: str) -> None:
    """Put a text between the two marks of a document.

    Raises:
        OutputError: it cannot be read, or has no such marks.

    """
    before, after = check_marks(path, marks)
    disk.write_text(path, f"{before}\n\n{text}\n{after}")


def check_marks(path: Path, marks: tuple[str, str]) -> tuple[str, str]:
    """What a document has up to the first mark and from the second one on; errors as `between_marks`."""
    document = _read(path, marks)
    begin, end = map(document.find, marks)
    if begin < 0 or end < begin:
        raise OutputError(f"{path} has no place for the tables", _expected(marks), file=path, code="missing")
    return document[: begin + len(marks[0])], document[end:]


def _expected(marks: tuple[str, str]) -> str:
    return "expected a document with `{}` and `{}` on lines of their own".format(*marks)


def _read(path: Path, marks: tuple[str, str]) -> str:
    try:
        return read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise OutputError(f"cannot read {path}: {reason}", _expected(marks), code="unreadable", file=path) from None
