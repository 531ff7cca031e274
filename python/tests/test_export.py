"""Tables of result folders leave as CSV and as LaTeX, checked before they do."""

from __future__ import annotations

import csv
import io

import polars as pl
import pytest

import octavo
from octavo.errors import DamagedError, OutputError
from octavo.runs import export


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared") / "runs"
    octavo.compare(workload="vectoradd", placements=["on-touch", "grit"], scale=1 / 1024, output=folder)
    return folder


def test_csv_has_every_value_of_the_table(compared):
    table = pl.read_parquet(compared / "points.parquet")
    read = list(csv.DictReader(io.StringIO(export.csv(export.table(compared)))))
    assert [list(row) for row in read] == [table.columns] * table.height
    assert [int(row["time_ps"]) for row in read] == table["time_ps"].to_list()


def test_lists_are_texts_in_csv():
    assert export.csv(pl.DataFrame({"lines": [[1, 2], []]})) == 'lines\n1 2\n""\n'


def test_latex_has_times_in_milliseconds_and_only_measures_that_fit_a_page(compared):
    table = pl.read_parquet(compared / "points.parquet")
    text = export.latex(export.brief(export.table(compared)))
    assert "migrations" not in text
    assert f"{table['time_ps'][0] / 1e9:.3f}" in text
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len(rows) == 1 + table.height
    assert len({row.count("&") for row in rows}) == 1


def test_latex_escapes_what_it_would_read_as_commands():
    text = export.latex(pl.DataFrame({"a_b": ["50% & $5 #1 {x} ~^\\"], "n": [None]}, schema={"a_b": str, "n": int}))
    assert r"a\_b" in text
    assert r"50\% \& \$5 \#1 \{x\} \textasciitilde{}\textasciicircum{}\textbackslash{} & -- \\" in text


def test_what_is_not_there_is_named_with_what_is(compared, tmp_path):
    with pytest.raises(OutputError) as refused:
        export.table(compared, "allocations")
    assert "points" in str(refused.value.hint)
    with pytest.raises(OutputError) as refused:
        export.table(compared, columns=["speedpu"])
    assert "speedup" in str(refused.value.hint)
    with pytest.raises(OutputError):
        export.table(tmp_path)


def test_a_table_that_is_not_what_was_written_does_not_leave(compared, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    for each in compared.iterdir():
        if each.is_file():
            (copy / each.name).write_bytes(each.read_bytes())
    pl.read_parquet(copy / "points.parquet").with_columns(faults=0).write_parquet(copy / "points.parquet")
    with pytest.raises(DamagedError):
        export.table(copy)


def test_the_command_writes_what_its_file_is_called_and_replaces_nothing_unasked(compared, cli, tmp_path):
    printed = cli("export", str(compared), "--columns", "variant,time_ps")
    assert printed.stdout.splitlines()[0] == "variant,time_ps"
    assert cli("export", str(compared), "-o", "points.tex").returncode == 0
    assert (tmp_path / "points.tex").read_text().startswith(r"\begin{tabular}")
    assert cli("export", str(compared), "-o", "points.tex").returncode == 2
    assert cli("export", str(compared), "-o", "points.xls").returncode == 2


def test_all_tables_leave_in_each_format(compared, cli, tmp_path):
    (run,) = {path.parent for path in compared.rglob("kernels.parquet") if "grit" in str(path)}
    for form, ending in (("csv", ".csv"), ("latex", ".tex"), ("parquet", ".parquet")):
        done = cli("export", str(run), "--format", form, "-o", form)
        assert done.returncode == 0, done.stderr
        assert {path.name for path in (tmp_path / form).iterdir()} == {
            f"{path.stem}{ending}" for path in run.glob("*.parquet")
        }
    for name in export.names(run):
        assert pl.read_parquet(tmp_path / "parquet" / f"{name}.parquet").equals(export.table(run, name))
        assert (tmp_path / "csv" / f"{name}.csv").read_text() == export.csv(export.table(run, name))
    assert cli("export", str(run), "--format", "csv", "-o", "csv").returncode == 2, "they are there"
    assert cli("export", str(run), "--format", "csv", "-o", "csv", "--force").returncode == 0
    columns = cli("export", str(run), "--columns", "kernel", "-o", "some")
    assert columns.returncode == 2
    assert "--table" in columns.stderr


def test_a_format_and_a_file_agree(compared, cli, tmp_path):
    assert cli("export", str(compared), "--format", "latex").stdout.startswith(r"\begin{tabular}")
    assert cli("export", str(compared), "--format", "latex", "-o", "points.csv").returncode == 2
    assert cli("export", str(compared), "--format", "parquet").returncode == 2
    assert cli("export", str(compared), "-o", "points.parquet").returncode == 0
    assert pl.read_parquet(tmp_path / "points.parquet").equals(export.table(compared))
    assert cli("export", str(compared), "--table", "points", "--format", "latex", "-o", "named").returncode == 0
    assert (tmp_path / "named.tex").is_file()
