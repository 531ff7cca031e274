"""The transformation in a process of its own: libclang may crash over deep code, which then ends in a message."""

from __future__ import annotations

import ctypes
import pickle
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

from octavo.transform.front_end import TransformError
from octavo.transform.rewrite import transformed

if TYPE_CHECKING:
    from pathlib import Path

    from octavo.transform.front_end import Reading
    from octavo.transform.result import Transformed

_STACK_BYTES = 256 << 20
"""Our choice: chains of 20,000 operations take less."""
_DEPTH = 100_000
"""Python frames at most; our choice, as above."""
_DEEP = "expressions or statements may be nested too deeply: split them"


def apart(path: Path, reading: Reading) -> Transformed:
    """The result for a file; errors as `octavo.transform.transform`."""
    code = f"import sys; sys.path[:] = {sys.path!r}; from octavo.transform.process import main; main()"
    order = pickle.dumps((path, reading))
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, input=order, capture_output=True, check=False)  # noqa: S603 - ourselves
    if done.returncode < 0:
        how = signal.Signals(-done.returncode).name
        raise TransformError(
            f"clang cannot read {path}: its process was ended by {how}", _DEEP, code="too-large", file=path
        )
    if done.returncode:
        raise RuntimeError(done.stderr.decode("utf-8", "replace"))
    result, error = pickle.loads(done.stdout)  # noqa: S301 - of our own process
    if error is not None:
        raise error
    return result  # type: ignore[no-any-return]


def main() -> None:
    """Transform the file that standard input orders; what becomes of it goes to standard output."""
    path, reading = pickle.load(sys.stdin.buffer)  # noqa: S301 - of the process that started this one
    sys.setrecursionlimit(_DEPTH)
    threading.stack_size(_STACK_BYTES)
    answers: list[tuple[Transformed | None, TransformError | None]] = []
    thread = threading.Thread(target=lambda: answers.append(_answer(path, reading)))
    thread.start()
    thread.join()
    if not answers:
        sys.exit(1)
    sys.stdout.buffer.write(pickle.dumps(answers[0]))


def _answer(path: Path, reading: Reading) -> tuple[Transformed | None, TransformError | None]:
    try:
        return transformed(path, reading), None
    except TransformError as error:
        return None, error
    except (RecursionError, ctypes.ArgumentError):
        return None, TransformError(
            f"clang cannot read {path}: its code is nested too deeply", _DEEP, code="too-large", file=path
        )
