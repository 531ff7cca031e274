"""Tables of result folders as CSV or Parquet, or as LaTeX for a paper."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from octavo.errors import OutputError
from octavo.files import manifest, parquet
from octavo.plain import near
from octavo.runs import measures

if TYPE_CHECKING:
    from collections.abc import Sequence

USUAL = "points"
"""The name of the table in comparisons, sweeps and advice."""
_BRIEF = ("time_ps", "speedup", "faults")
"""The measures that LaTeX shows unless columns are named: a page of a paper has no room for all of them."""
_LEFT_OUT = {"point", "status", "error", "run", *measures.NAMES, *measures.PROGRAM_NAMES} - set(_BRIEF)
_PS_A_MS = 1e9
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{each: f"\\{each}" for each in "&%$#_{}"},
}


def table(folder: str | Path, name: str = USUAL, columns: Sequence[str] = ()) -> pl.DataFrame:
    """Read one table of a folder that Octavo wrote, checked against its manifest.

    Args:
        folder: a run, comparison, sweep, advice, profile or trace.
        name: the file's name without `.parquet`.
        columns: the columns, in this order; all of them if empty.

    Raises:
        OutputError: the folder has no manifest or no such table, or the table has no such column.
        DamagedError: the table is damaged.

    """
    root = Path(folder)
    found, names = _tables(root)
    file = f"{name}.parquet"
    if name not in names:
        raise OutputError(
            f"no table `{name}` in {root}",
            near(name, names) or f"tables: {', '.join(names) or 'none'}",
            code="unknown-name",
            found=name,
        )
    manifest.verify(root, found, [file])
    whole = parquet.read(root / file, "the command that wrote it, given again, writes it anew", verified=True)
    for column in columns:
        if column not in whole.columns:
            hint = near(column, whole.columns) or f"columns: {', '.join(whole.columns)}"
            raise OutputError(f"no column `{column}` in {root / file}", hint, key=column)
    return whole.select(columns) if columns else whole


def names(folder: str | Path) -> list[str]:
    """The tables of a folder; errors as `table`."""
    return _tables(Path(folder))[1]


def _tables(root: Path) -> tuple[manifest.Manifest, list[str]]:
    found = manifest.read(root) if root.is_dir() else None
    if found is None:
        raise OutputError(
            f"{root} is no folder of results", "expected a folder with octavo-manifest.json", code="missing", file=root
        )
    tables = (Path(each) for each in found.files if each.endswith(".parquet"))
    return found, sorted(each.stem for each in tables if each.parent == Path())


def brief(whole: pl.DataFrame) -> pl.DataFrame:
    """Keep only the measures that fit into a paper: time, speed-up and faults."""
    return whole.select(each for each in whole.columns if each not in _LEFT_OUT)


def csv(whole: pl.DataFrame) -> str:
    """Return a table as CSV with a header; the values of lists are separated by spaces."""
    lists = [each for each, kind in whole.schema.items() if isinstance(kind, pl.List)]
    flat = [pl.col(each).cast(pl.List(pl.String)).list.join(" ") for each in lists]
    return whole.with_columns(flat).write_csv()


def packed(whole: pl.DataFrame) -> bytes:
    """Return a table as Parquet."""
    content = io.BytesIO()
    whole.write_parquet(content)
    return content.getvalue()


def latex(whole: pl.DataFrame) -> str:
    r"""Return a table as a LaTeX `tabular` with the rules of `booktabs`.

    Columns that end in `_ps` are shown in milliseconds, other fractions with two digits; numbers are right-aligned.
    """
    aligned = "".join("r" if kind.is_numeric() else "l" for kind in whole.dtypes)
    heads = [_escaped(_head(each)) for each in whole.columns]
    rows = [[_cell(name, value) for name, value in row.items()] for row in whole.iter_rows(named=True)]
    lines = [" & ".join(cells) + r" \\" for cells in (heads, *rows)]
    begin, end = rf"\begin{{tabular}}{{{aligned}}}", r"\end{tabular}"
    return "\n".join([begin, r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule", end, ""])


def _head(column: str) -> str:
    return f"{column.removesuffix('_ps')} (ms)" if column.endswith("_ps") else column


def _cell(column: str, value: object) -> str:
    if value is None:
        return "--"
    if isinstance(value, (int, float)) and column.endswith("_ps"):
        return f"{value / _PS_A_MS:.3f}"
    if isinstance(value, float):
        return f"{value:.2f}"
    return _escaped(str(value))


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(each, each) for each in text)
