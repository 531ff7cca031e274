"""Columns that the package names are columns that the core tells of, and results have what it tells."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import SMALL

import octavo
from octavo import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(octavo.__file__).parent
DOCS = PACKAGE.parents[1] / "docs"
TOLD = {table["name"]: table["columns"] for table in json.loads(_core.result_schema())["tables"]}
OF_PROFILES = {
    "events": {"duration_ps", "faults", "bytes", "cause", "processors", "allocation"},
    "memory_intervals": set(),
    "kernels": {"gpu"},
}
"""Columns that tables of profiles have besides (docs/results.md)."""
NAME_COLUMNS = {"select", "sort", "drop", "drop_nulls", "group_by", "partition_by", "unique", "get_column"}
"""Methods of frames whose texts are names of columns."""


def columns(table: str) -> set[str]:
    return {column["name"] for column in TOLD[table]} | OF_PROFILES.get(table, set())


class Uses(ast.NodeVisitor):
    """Columns that the code of a function takes from tables of results, and names that it makes."""

    def __init__(self, constants: dict[str, str]) -> None:
        self.constants = constants
        self.frames: dict[str, set[str]] = {}
        """Tables that a variable may have rows of."""
        self.made: set[str] = set()
        self.used: list[tuple[int, str, frozenset[str]]] = []

    def visit_Assign(self, node: ast.Assign) -> None:
        found = self._tables(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.frames[target.id] = found
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self._use(node, [node.slice])
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if method in {"alias", "with_row_index"}:
            self.made |= {text for argument in node.args if (text := self._text(argument))}
        self.made |= {keyword.arg for keyword in node.keywords if keyword.arg}
        self._use(node, node.args if method in NAME_COLUMNS else [])
        for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
            for each in ast.walk(argument):
                if isinstance(each, ast.Call) and ast.unparse(each.func) in {"pl.col", "pl.sum"}:
                    self._use(node, each.args)
        self.generic_visit(node)

    def _use(self, node: ast.expr, names: list[ast.expr]) -> None:
        tables = frozenset(self._tables(node))
        if tables:
            self.used += [(node.lineno, text, tables) for name in names if (text := self._text(name))]

    def _tables(self, node: ast.expr) -> set[str]:
        """The tables that a chain of methods and brackets begins with."""
        while True:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr in {"table", "rows"} and len(node.args) == 1 and (name := self._text(node.args[0])):
                    return {name} & TOLD.keys()
                node = node.func.value
            elif isinstance(node, ast.Subscript | ast.Attribute):
                node = node.value
            elif isinstance(node, ast.IfExp):
                return self._tables(node.body) | self._tables(node.orelse)
            else:
                return self.frames.get(node.id, set()) if isinstance(node, ast.Name) else set()

    def _text(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Name):
            return self.constants.get(node.id)
        return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def wrong(source: str) -> Iterator[str]:
    """What a module calls columns that no table of its has."""
    tree = ast.parse(source)
    constants = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            uses = Uses(constants)
            uses.visit(function)
            for line, name, tables in uses.used:
                if name not in uses.made and not any(name in columns(table) for table in tables):
                    yield f"line {line}: `{name}` is no column of {', '.join(sorted(tables))}"


MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if re.search(r"\.(table|rows)\(", path.read_text("utf-8"))]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_columns_are_called_what_they_are_called(path):
    assert list(wrong(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "line",
    [
        'run.table("kernels")["endde_ps"]',
        'run.table("kernels").sort("began")',
        'run.table("kernels").filter(pl.col("krnel") == "a")',
        'rows["bites"]',
        "rows[NAME]",
        'run.rows("kernels")[0]["endde_ps"]',
    ],
)
def test_a_wrong_name_is_found(line):
    source = f'NAME = "sise"\n\ndef f(run):\n    rows = run.table("allocations").sort("address")\n    return {line}\n'
    assert len(list(wrong(source))) == 1
    right = line.replace("endde", "ended").replace('"began"', '"began_ps"').replace("krnel", "kernel")
    source = source.replace(line, right.replace("bites", "bytes").replace("NAME", '"gpus"'))
    assert list(wrong(source)) == []


RUNS = {
    "launches": {"workload": "fir"},
    "program": {"workload": "fir", "kind": "managed"},
    "coherent": {"workload": "fir", "kind": "system", "node": "gh200"},
    "jobs": {"workload": "fir+matrixmultiplication"},
    "instant": {"workload": "fir", "executor": "instant"},
}


@pytest.mark.parametrize("name", RUNS)
def test_results_hold_what_the_core_tells(name, tmp_path):
    result = octavo.run(**RUNS[name], scale=SMALL, output=tmp_path / "r")
    clock = "timed" if result.has_time else "untimed"
    for table in result.tables:
        frame = result.table(table)
        told = [column for column in TOLD[table] if column["of"] in {"all", clock} or column["name"] in frame.columns]
        assert frame.columns == [column["name"] for column in told], table
    schema = json.loads(_core.result_schema())["summary" if result.has_time else "instant_summary"]
    assert result.totals.keys() - {"octavo", "format"} <= schema["properties"].keys()
    assert set(schema["required"]) <= result.totals.keys()


def test_the_page_of_results_names_every_table_and_column():
    page = (DOCS / "results.md").read_text(encoding="utf-8")
    named = {name for table, found in TOLD.items() for name in [table, *(column["name"] for column in found)]}
    assert sorted(name for name in named if f"`{name}`" not in page) == []
