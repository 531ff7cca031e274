"""A script with other values of its variables."""

from __future__ import annotations

import ast
import tokenize
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def code_with(script: str, values: dict[str, int]) -> Any:
    """The compiled script, in which whole numbers assigned to these names at the top are others."""
    with tokenize.open(script) as file:
        tree = ast.parse(file.read(), script)
    for statement in tree.body:
        for name, number in assigned(statement):
            if name in values:
                number.value = values[name]
    return compile(tree, script, "exec")


def assigned(statement: ast.stmt) -> list[tuple[str, ast.Constant]]:
    """Names that a statement gives whole numbers, with the numbers: `batch = 8`, `batch, length = 8, 256`."""
    if isinstance(statement, ast.AnnAssign):
        pairs: list[tuple[ast.expr, ast.expr | None]] = [(statement.target, statement.value)]
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, value = statement.targets[0], statement.value
        both = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
        pairs = list(zip(target.elts, value.elts)) if both else [(target, value)]  # type: ignore[attr-defined] # noqa: B905
    else:
        return []
    return [
        (target.id, value)
        for target, value in pairs
        if isinstance(target, ast.Name) and isinstance(value, ast.Constant) and type(value.value) is int
    ]


def numbers(script: Path) -> dict[str, tuple[int, int]]:
    """Whole numbers that a script assigns once to a name at its top: value and line, by name."""
    with tokenize.open(script) as file:
        tree = ast.parse(file.read(), str(script))
    found: dict[str, tuple[int, int]] = {}
    twice: set[str] = set()
    for statement in tree.body:
        for name, number in assigned(statement):
            twice |= {name} & found.keys()
            found[name] = int(number.value), statement.lineno  # type: ignore[arg-type]
    return {name: one for name, one in found.items() if name not in twice}
