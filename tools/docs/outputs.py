"""Name the outputs on pages that their commands no longer print.

python tools/docs/outputs.py [PAGE ...]     # such as docs/index.md; README and all guides if left out

Runs the commands of each page in an empty folder, as the tests do, and looks for the numbers of each shown line in
what they printed. Lines of pages are abridged, so words are not compared, and columns may be left out.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "python" / "tests"))

import test_docs as pages  # noqa: E402 - beside the tests

_NUMBER = re.compile(r"\d[\d,.]*")
_FEWEST = 2
"""Numbers; lines with fewer say too little to be found again."""


def main() -> None:
    """Check the pages that are named."""
    asked = [ROOT / name for name in sys.argv[1:]] or [page for page in pages.WITH_SNIPPETS if _shown(page)]
    stale = [f"{pages.name(page)}: {line.strip()}" for page in asked for line in _stale(page)]
    print("\n".join(stale) or "every line is still printed")
    sys.exit(bool(stale))


def _shown(page: Path) -> list[str]:
    """Return the lines of a page's outputs that have numbers."""
    blocks = [each.text for each in pages.snippets(page) if each.language == "text" and not each.reason]
    lines = [line for block in blocks for line in block.splitlines()]
    return [line for line in lines if len(_NUMBER.findall(line)) >= _FEWEST and not line.lstrip().startswith("File")]


def _stale(page: Path) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        printed = [set(_NUMBER.findall(line)) for line in _printed(page, Path(folder))]
    windows = [set().union(*printed[start : start + 3]) for start in range(len(printed))]
    return [line for line in _shown(page) if not any(window.issuperset(_NUMBER.findall(line)) for window in windows)]


def _printed(page: Path, folder: Path) -> list[str]:
    """Run what a page runs, and return the lines that come of it."""
    pages.PREPARE.get(pages.name(page), lambda _: None)(folder)
    environment = os.environ | {"COLUMNS": "100", "PYTHONPATH": str(ROOT / "python")}
    printed = []
    for snippet in pages.snippets(page):
        if snippet.language == "toml" and (file := re.match(r"# (\S+\.toml)\n", snippet.text)):
            (folder / file[1]).write_text(snippet.text)
        if snippet.reason or snippet.language != "console":
            continue
        for command in pages.commands(snippet):
            words = [sys.executable, "-m", *shlex.split(command, comments=True)]
            done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - what our own pages say
            printed += (done.stdout + done.stderr).splitlines()
    return printed + [line for file in folder.glob("*.tex") for line in file.read_text().splitlines()]


if __name__ == "__main__":
    main()
