"""Runs a script and writes its step."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import torch

from .marks import MARK, Marks
from .tape import Tape
from .tidy import step


def main() -> None:
    """Arguments: the folder to leave out of the path, the file to write, the script, and what the script is given."""
    folder, output, script, *arguments = sys.argv[1:]
    sys.path.remove(folder)
    sys.path[0] = str(Path(script).resolve().parent)
    sys.argv = [script, *arguments]
    tape = Tape()
    marks = Marks(tape)
    with tape:
        _run(script)
    part = marks.step()
    if part is None or not any(event[0] == "run" for event in part.events):
        sys.exit(
            "no step was found: expected an `optimizer.step()`, the call of a module, or "
            f'`with torch.profiler.record_function("{MARK}"):`'
        )
    found = {"source": f"torch {torch.__version__}", **step(tape, part)}
    Path(output).write_text(json.dumps(found), encoding="utf-8")


def _run(script: str) -> None:
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as ended:
        if ended.code not in {None, 0}:
            raise
