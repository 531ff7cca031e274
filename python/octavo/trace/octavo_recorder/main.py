"""Runs a script and writes its step."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path

import torch

from .gpu import Gpu
from .kernels import ValuesNeededError
from .marks import MARK, EnoughError, Marks
from .redirect import Redirect, see_through_functional, watch_backward
from .tape import Tape
from .tidy import step
from .vary import code_with

VALUES_NEEDED = 3
"""Exit status where the script needs values that it does not have."""


def main() -> None:
    """Arguments: the folder to leave out of the path, the file to write, how to run, the script, and its arguments.

    How to run is JSON: `on`, "meta" or "cpu"; `steps`, after which the script is ended; `memory` and `capability` of
    the GPU; `vary`, new values of the script's variables.
    """
    folder, output, how, script, *arguments = sys.argv[1:]
    sys.path.remove(folder)
    sys.path[0] = str(Path(script).resolve().parent)
    sys.argv = [script, *arguments]
    asked = json.loads(how)
    gpu = Gpu(asked["memory"], tuple(asked["capability"]), asked["on"])
    tape = Tape(gpu)
    marks = Marks(tape, asked["steps"])
    gpu.install(tape.history, tape.sizes)
    see_through_functional()
    watch_backward(tape.begins_backward, tape.ends_backward)
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=script, __builtins__=__builtins__)
    sys.modules["__main__"] = main
    with tape, Redirect(gpu):
        try:
            _run(main, script, asked["vary"])
        except EnoughError:
            gpu.assume(f"the script was ended after optimizer step {asked['steps']}")
        except ValuesNeededError as error:
            sys.stderr.write(f"{error}\n")
            sys.exit(VALUES_NEEDED)
    _write(output, tape, marks, gpu, _names(main, marks))


def _write(output: str, tape: Tape, marks: Marks, gpu: Gpu, names: dict[str, str]) -> None:
    part = marks.step()
    if part is None or not any(event[0] == "run" for event in part.events):
        sys.exit(
            "no step was found: expected an `optimizer.step()`, the call of a module, or "
            f'`with torch.profiler.record_function("{MARK}"):`'
        )
    leave_out = tape.history.host if gpu.is_apart else set()
    found = {
        "source": f"torch {torch.__version__}",
        **step(tape, part, leave_out),
        "memory": {
            **tape.history.written(tape.sizes, set(tape.parameters), leave_out),
            "names": names,
            "assumed": gpu.assumed,
        },
    }
    Path(output).write_text(json.dumps(found), encoding="utf-8")


def _run(main: types.ModuleType, script: str, vary: dict[str, int]) -> None:
    try:
        exec(code_with(script, vary), main.__dict__)  # noqa: S102 - it is the user's script
    except SystemExit as ended:
        if ended.code not in {None, 0}:
            raise


def _names(main: types.ModuleType, marks: Marks) -> dict[str, str]:
    """What the script calls its model and its optimizer, and the optimizer's class."""
    found: dict[str, str] = {}
    for name, value in main.__dict__.items():
        if value is marks.model and value is not None:
            found.setdefault("model", name)
        if value is marks.optimizer and value is not None:
            found.setdefault("optimizer", name)
    if marks.optimizer is not None:
        kind = type(marks.optimizer)
        public = getattr(torch.optim, kind.__name__, None) is kind
        found["class"] = f"torch.optim.{kind.__name__}" if public else kind.__name__
    return found
