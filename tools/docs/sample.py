"""Draw sentences at random from docs, doc comments and help, to be read by a person.

python tools/docs/sample.py [--count 60] [--seed 1] [--only docs|rust|python]

For each sentence a native reader says whether they stop at it. Of 60, at most 3 may.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_END = re.compile(r"(?<=[.?!])\s+(?=[A-Z`*\[])")
_NO_PROSE = ("|", "#", "!", "<", ":::", "    options:")
"""Starts of lines that are tables, headings, pictures, or directives."""
_SHORTEST = 5
"""Words; what is shorter is a heading or a label."""


def main() -> None:
    """Print the sample, each sentence with its file."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--count", type=int, default=60)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--only", choices=SOURCES)
    given = asked.parse_args()
    kinds = [given.only] if given.only else list(SOURCES)
    found = {kind: sorted(set(SOURCES[kind]())) for kind in kinds}
    draw = random.Random(given.seed)  # noqa: S311 - a sample, no secret
    for kind in kinds:
        for file, sentence in draw.sample(found[kind], given.count // len(kinds)):
            print(f"{file}: {sentence}")


def pages() -> Iterator[tuple[str, str]]:
    """Yield the sentences of README and docs, without code and tables."""
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        text = _FENCE.sub("", page.read_text(encoding="utf-8"))
        lines = [line.lstrip("-* ") for line in text.splitlines() if not line.startswith(_NO_PROSE)]
        yield from _sentences(page, "\n".join(lines))


def rust_comments() -> Iterator[tuple[str, str]]:
    """Yield the sentences of Rust's doc comments."""
    for file in (ROOT / "crates").rglob("*.rs"):
        lines = [re.match(r"\s*//[/!] ?(.*)", line) for line in file.read_text(encoding="utf-8").splitlines()]
        yield from _sentences(file, "\n".join(line[1] if line else "" for line in lines))


def docstrings() -> Iterator[tuple[str, str]]:
    """Yield the sentences of Python's docstrings and of options' help."""
    for file in (ROOT / "python" / "octavo").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                yield from _sentences(file, node.value.value)
            if isinstance(node, ast.keyword) and node.arg == "help" and isinstance(node.value, ast.Constant):
                yield from _sentences(file, str(node.value.value))


SOURCES = {"docs": pages, "rust": rust_comments, "python": docstrings}


def _sentences(file: Path, text: str) -> Iterator[tuple[str, str]]:
    for paragraph in re.split(r"\n\s*\n", text):
        for sentence in _END.split(" ".join(paragraph.split())):
            if len(sentence.split()) >= _SHORTEST:
                yield str(file.relative_to(ROOT)), sentence


if __name__ == "__main__":
    main()
