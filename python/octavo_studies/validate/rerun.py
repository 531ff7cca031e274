"""Runs the reference itself, by the script that made the cached results: its points again, or points of one's own."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from octavo.errors import InterruptedRun, ValidationError
from octavo.files import disk
from octavo.trace.seals import seal
from octavo_studies.validate.reference import FILE, checkout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo_studies.validate.reference import Row

TOOL = Path("tools") / "mgpusim-reference" / "reference.py"
OWN_TRACES = "own-traces"
"""Folder of the traces of your own points, inside the folder of results."""


def rerun(table: Path, root: Path, rows: Sequence[Row], *, force: bool) -> Path:
    """Run the points of `rows` into a table in `root`, which is returned; points that it has already are kept.

    Raises:
        ValidationError: Go or the script is missing, or the script failed.

    """
    output = root.resolve() / FILE
    if output == table.resolve():
        raise ValidationError(
            f"--rerun would change the reference {table}", "choose another folder with -o", key="rerun", code="conflict"
        )
    chosen = ["--points-of", str(table.resolve()), "--only", ",".join(sorted({row.benchmark for row in rows}))]
    script = _Script.ready(output, [*chosen, *_gpus({row.gpus for row in rows})], force=force)
    script.run()
    script.run("--launches")
    return output


def own_points(root: Path, points: Sequence[str], gpus: Sequence[int], *, force: bool) -> tuple[Path, Path]:
    """Run points such as `fir -length 5000 -taps 7` and record them.

    Returns the table and the folder of traces, both in `root`; what is there already is kept.

    Raises:
        ValidationError: Go or the script is missing, a point is wrong, or cannot be run or recorded.
        TraceError: what was recorded is no valid trace.

    """
    output, traces = root.resolve() / FILE, root.resolve() / OWN_TRACES
    chosen = [word for point in points for word in ("--point", point)]
    script = _Script.ready(output, [*chosen, *_gpus(set(gpus))], force=force)
    script.run("--retry-failed")
    script.run("--launches")
    script.run("--record", str(traces))
    for trace in sorted(traces.glob("*.trace")):
        seal(trace)
    return output, traces


def _gpus(counts: set[int]) -> list[str]:
    return [word for count in sorted(counts) for word in ("--gpus", str(count))]


@dataclass(frozen=True)
class _Script:
    """The script with what it runs and where its table goes."""

    command: list[str]

    @classmethod
    def ready(cls, output: Path, chosen: Sequence[str], *, force: bool) -> _Script:
        script = checkout() / TOOL
        if not script.is_file():
            raise ValidationError(f"cannot run the reference: there is no {script}", "run Octavo from its checkout")
        if shutil.which("go") is None:
            raise ValidationError(
                "cannot run the reference: Go is not installed",
                "install Go 1.25 or later with a C compiler, or leave out --rerun and --point to use cached results",
                code="not-installed",
                key="Go",
            )
        disk.check_writable(output.parent)
        work = Path(tempfile.gettempdir()) / "mgpusim-reference"
        command = [sys.executable, str(script), "--output", str(output), *chosen, "--work", str(work)]
        return cls([*command, *(["--rerun"] if force else [])])

    def run(self, *mode: str) -> None:
        try:
            # The script prints progress, and standard output is for results.
            done = subprocess.run([*self.command, *mode], stdout=sys.stderr, check=False)  # noqa: S603 - our own script
        except KeyboardInterrupt:
            raise InterruptedRun("stopped: runs of the reference that are finished are kept") from None
        if done.returncode != 0:
            raise ValidationError(
                f"the reference's script ended with status {done.returncode}", "what it said is above"
            )
