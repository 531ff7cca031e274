"""Runs the reference itself again, by the script that made the cached results."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from octavo.errors import InterruptedRun, ValidationError
from octavo.runs import folder
from octavo.validate.reference import FILE, checkout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.validate.reference import Row

TOOL = Path("tools") / "mgpusim-reference" / "reference.py"


def rerun(table: Path, root: Path, rows: Sequence[Row], *, force: bool) -> Path:
    """Run the points of `rows` into a table in `root`, which is returned; points that it has already are kept.

    Raises:
        ValidationError: Go or the script is missing, or the script failed.

    """
    script = checkout() / TOOL
    if not script.is_file():
        raise ValidationError(f"cannot run the reference: there is no {script}", "run Octavo from its checkout")
    if shutil.which("go") is None:
        raise ValidationError(
            "cannot run the reference: Go is not installed",
            "install Go 1.25 or later with a C compiler, or leave out --rerun to use the cached results",
        )
    folder.check_writable(root)
    output = root.resolve() / FILE
    if output == table.resolve():
        raise ValidationError(f"--rerun would change the reference {table}", "choose another folder with -o")
    command = [sys.executable, str(script), "--output", str(output), "--points-of", str(table.resolve())]
    command += ["--only", ",".join(sorted({row.benchmark for row in rows}))]
    command += ["--work", str(Path(tempfile.gettempdir()) / "mgpusim-reference")]
    for count in sorted({row.gpus for row in rows}):
        command += ["--gpus", str(count)]
    if force:
        command.append("--rerun")
    try:
        # What the script says is progress: standard output is for results.
        done = subprocess.run(command, stdout=sys.stderr, check=False)  # noqa: S603 - our own script
    except KeyboardInterrupt:
        raise InterruptedRun("stopped: runs of the reference that are finished are kept") from None
    if done.returncode != 0:
        raise ValidationError(f"the reference's script ended with status {done.returncode}", "what it said is above")
    return output
