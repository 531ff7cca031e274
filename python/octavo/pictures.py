"""Bar charts and heat maps, made from tables alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo import measures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#9c755f", "#edc948", "#e15759", "#bab0ac", "#76b7b2")
"""Distinct for most readers with a colour-vision deficiency, too."""


def grouped_bars(path: Path, table: pl.DataFrame, *, ylabel: str, title: str, line_at: float | None = None) -> None:
    """Bars by the first column's rows, one colour for each other column."""
    labels, series = table.columns[0], table.columns[1:]
    figure, axes = _figure(max(6.0, 1.1 + 0.16 * table.height * (len(series) + 1)), 3.6)
    width = 0.84 / len(series)
    for index, name in enumerate(series):
        offsets = [group - 0.42 + (index + 0.5) * width for group in range(table.height)]
        axes.bar(offsets, table[name].to_list(), width, label=name, color=_COLOURS[index % len(_COLOURS)])
    if line_at is not None:
        axes.axhline(line_at, color="#333333", linewidth=0.8)
    axes.set_xticks(range(table.height), table[labels].to_list())
    _finish(figure, axes, path, ylabel, title)


def stacked_bars(
    path: Path, labels: Sequence[str], parts: Mapping[str, Sequence[float]], *, ylabel: str, title: str
) -> None:
    """One bar for each label, made of the parts in order."""
    figure, axes = _figure(max(5.0, 1.5 + 0.42 * len(labels)), 3.9)
    bottom = [0.0] * len(labels)
    for index, (name, values) in enumerate(parts.items()):
        axes.bar(range(len(labels)), values, 0.7, bottom=bottom, label=name, color=_COLOURS[index % len(_COLOURS)])
        bottom = [low + value for low, value in zip(bottom, values, strict=True)]
    rotation = 90 if len(labels) > 8 else 0
    axes.set_xticks(range(len(labels)), labels, rotation=rotation)
    _finish(figure, axes, path, ylabel, title)


def heat_map(
    path: Path,
    values: Sequence[Sequence[float]],
    rows: Sequence[str],
    columns: Sequence[str],
    axes_labels: tuple[str, str],
    title: str,
) -> None:
    """Values by row and column, each written into its cell."""
    figure, axes = _figure(1.8 + 0.8 * len(columns), 1.4 + 0.45 * len(rows))
    axes.imshow(values, cmap="viridis_r", aspect="auto")
    for y, line in enumerate(values):
        for x, value in enumerate(line):
            axes.text(x, y, f"{value:.2f}", ha="center", va="center", color="white", fontsize=8)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylabel(axes_labels[0])
    axes.set_xlabel(axes_labels[1])
    axes.set_title(title, fontsize=10)
    _write(figure, path)


def breakdown(path: Path, points: pl.DataFrame, *, title: str) -> None:
    """Where the time of accesses goes, relative to each workload's first variant; bars follow the order of points."""
    rows = points.to_dicts()
    first = {row["workload"]: row["time_ps"] for row in reversed(rows)}
    several = len(first) > 1
    labels = [f"{row['workload']} {row['variant']}" if several else row["variant"] for row in rows]
    relative = [row["time_ps"] / first[row["workload"]] for row in rows]
    split = [measures.shares(row) for row in rows]
    parts = {
        cause.replace("_", " "): [share[cause] * height for share, height in zip(split, relative, strict=True)]
        for cause in measures.CAUSES
        if any(share[cause] > 0 for share in split)
    }
    stacked_bars(path, labels, parts, ylabel="run time, split by the accesses' time", title=title)


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure  # noqa: PLC0415 - importing it takes longer than most commands

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def _finish(figure: Figure, axes: Axes, path: Path, ylabel: str, title: str) -> None:
    axes.set_ylabel(ylabel)
    axes.set_title(title, fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", linewidth=0.4, alpha=0.6)
    axes.set_axisbelow(True)
    figure.legend(loc="outside lower center", ncols=5, fontsize=8, frameon=False)
    _write(figure, path)


def _write(figure: Figure, path: Path) -> None:
    temporary = path.with_name(f".{path.name}")
    figure.savefig(temporary, format="png", dpi=150, metadata={"Software": None})
    temporary.replace(path)
