"""Say whether the examples on pages hold for whole programs: the order of variants, of nodes, and the advice.

python tools/docs/full_size.py [--seconds 60] [PAGE ...]     # such as docs/index.md; README and all guides if left out

Runs each `octavo compare`, `octavo advise` and `octavo sweep` of a page at its scale, and again at larger ones, up to
scale 1 or the largest that is likely to take less than so many seconds. Prints a line for each, and fails if one of
them turns.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "python" / "tests"))

import test_docs as pages  # noqa: E402 - beside the tests

_COMMANDS = ("compare", "advise", "sweep")
_STEPS = (4, 2)
"""From one scale to the next: the first for which there is time."""
_ALIKE = 0.02
"""Times within this share of one another are the same, as for `octavo compare --trend`."""
_START = 1.5
"""Seconds that a command takes however small its program is."""
_SCALE = re.compile(r"--scale[ =](\S+)")
_FILE = re.compile(r"\bscale = ([\d.]+)")


@dataclass(frozen=True)
class Outcome:
    """What an example came to at one scale."""

    seconds: float
    """That it took here."""
    times: Mapping[tuple[str, str], float]
    """Simulated, by workload and by variant, point of a sweep or placement."""
    chosen: str | None = None
    """The placement that is advised."""


def main() -> None:
    """Check the pages that are named."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--seconds", type=float, default=60)
    asked.add_argument("page", nargs="*")
    given = asked.parse_args()
    named = [ROOT / name for name in given.page] or pages.WITH_SNIPPETS
    turned = False
    for page in named:
        for command in _prepared(page):
            said = _judged(command, given.seconds)
            turned |= said.startswith("TURNS")
            print(f"{pages.name(page)}: {command.words}\n    {said}", flush=True)
    sys.exit(turned)


@dataclass(frozen=True)
class Command:
    """An example in the folder that its page prepares."""

    words: str
    folder: Path

    @property
    def scale(self) -> float:
        """The scale that it says itself or that its file says."""
        text = self.words
        for file in re.findall(r"\S+\.toml", text):
            if (path := self.folder / file).is_file():
                text += f"\n{path.read_text(encoding='utf-8')}"
        found = _SCALE.search(text) or _FILE.search(text)
        upper, _, lower = (found[1] if found else "1").partition("/")
        return float(upper) / float(lower or 1)

    def at(self, scale: float, limit: float) -> Outcome | None:
        """What it comes to at a scale; nothing if it takes longer than the limit or cannot be run there."""
        without = re.sub(r"(-o|--output) \S+|--trend|--pictures \S+", "", _SCALE.sub("", self.words))
        with tempfile.TemporaryDirectory() as output:
            words = [*shlex.split(without, comments=True), "--scale", str(scale), "--json", "-o", f"{output}/of"]
            began = time.monotonic()
            try:
                done = subprocess.run(  # noqa: S603 - what our own pages say
                    [sys.executable, "-m", *words],
                    cwd=self.folder,
                    env=os.environ | {"PYTHONPATH": str(ROOT / "python")},
                    capture_output=True,
                    text=True,
                    check=False,
                    timeout=limit,
                )
            except subprocess.TimeoutExpired:
                return None
        took = time.monotonic() - began
        return _outcome(json.loads(done.stdout), took) if done.returncode == 0 else None


def _prepared(page: Path) -> Iterator[Command]:
    """Each example of a page, after all that is said before it, in a folder that lasts as long as it is looked at."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pages.PREPARE.get(pages.name(page), lambda _: None)(folder)
        for snippet in pages.snippets(page):
            if snippet.language == "toml" and (file := re.match(r"# (\S+\.toml)\n", snippet.text)):
                (folder / file[1]).write_text(snippet.text)
            if snippet.reason or snippet.language != "console":
                continue
            for words in pages.commands(snippet):
                if words.split()[1] in _COMMANDS:
                    yield Command(words, folder)
                elif words.split()[1] in ("new", "trace", "record", "import"):
                    _run(words, folder)


def _run(words: str, folder: Path) -> None:
    """Make what later examples need."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    command = [sys.executable, "-m", *shlex.split(words, comments=True)]
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)  # noqa: S603 - as above


def _outcome(document: dict[str, Any], seconds: float) -> Outcome | None:
    if "buffers" in document:
        candidates = (document["found"] or {"candidates": []})["candidates"]
        times = {("", _label(each["placements"])): each["seconds"] for each in candidates if each["seconds"]}
        return Outcome(seconds, times, _label({each["name"]: each["advised"] for each in document["buffers"]}))
    points = [point for point in document["points"] if point.get("time_ps")]
    return Outcome(seconds, {_named(point): point["time_ps"] for point in points})


def _named(point: Mapping[str, Any]) -> tuple[str, str]:
    """The workload and the variant of a point, or the values of a sweep's axes."""
    values = (str(value) for key, value in point.items() if "." in key)
    return (point["workload"], point["variant"]) if "variant" in point else ("", ", ".join(values))


def _label(placements: Mapping[str, str]) -> str:
    return " ".join(placements.values())


def _judged(command: Command, limit: float) -> str:
    """Whether what a command says at its scale holds at the largest scale that takes less than the limit."""
    scale = command.scale
    small = command.at(scale, limit)
    if small is None:
        return f"skipped: not run at scale {scale:g}"
    if not small.times:
        return f"skipped: no times at scale {scale:g}"
    large, reached = small, scale
    while reached < 1 and (step := _step(large, limit)):
        further = command.at(min(reached * step, 1.0), limit)
        if further is None or not further.times:
            break
        large, reached = further, min(reached * step, 1.0)
    between = f"from scale {scale:g} to {reached:g}"
    if reached == scale and scale < 1:
        return f"UNKNOWN: nothing larger than scale {scale:g} takes less than {limit:g} s"
    turned = _turned(small, large)
    return f"TURNS {between}: {'; '.join(turned)}" if turned else f"holds {between}"


def _step(outcome: Outcome, limit: float) -> int | None:
    """How much larger a program can be that takes less than the limit, if it can be larger at all."""
    return next((step for step in _STEPS if _START + (outcome.seconds - _START) * step < limit), None)


def _turned(small: Outcome, large: Outcome) -> list[str]:
    """What is said at the small scale and not at the large one."""
    if small.chosen is not None:
        same = small.chosen == large.chosen or _is_best(large, small.chosen) or _is_best(small, large.chosen)
        return [] if same else [f"advice {small.chosen}, then {large.chosen}"]
    both = [name for name in small.times if name in large.times]
    return [
        f"{one[1]} over {other[1]}: {small.times[one] / small.times[other]:.2f} of its time, then "
        f"{large.times[one] / large.times[other]:.2f}"
        for one, other in itertools.combinations(both, 2)
        if one[0] == other[0] and _side(small, one, other) * _side(large, one, other) < 0
    ]


def _is_best(outcome: Outcome, placements: str | None) -> bool:
    """Whether placements were simulated, and nothing was faster."""
    found = outcome.times.get(("", placements or ""))
    return found is not None and found <= min(outcome.times.values()) * (1 + _ALIKE)


def _side(outcome: Outcome, one: tuple[str, str], other: tuple[str, str]) -> int:
    """1 if the first takes longer, -1 if the other does, 0 if neither."""
    ratio = outcome.times[one] / outcome.times[other]
    return (ratio > 1 + _ALIKE) - (ratio < 1 - _ALIKE)


if __name__ == "__main__":
    main()
