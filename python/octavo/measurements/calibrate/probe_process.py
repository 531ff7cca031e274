"""A probe in a process of its own, which reports its progress line by line.

`python -m octavo.measurements.calibrate.probe_process PROBE GPU EFFORT` measures.

No probe may affect the next one. After a kernel's fault, the driver accepts no more work from the process. The driver
remembers for a process that processor and GPU competed for pages. CUPTI stays attached to a process. If it is stopped
in the middle, the process ends and releases everything that it held on the GPU.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, TextIO

import octavo._core as _core
from octavo.errors import CalibrationError, of_engine
from octavo.measurements.calibrate import libraries

if TYPE_CHECKING:
    from collections.abc import Callable


def measure(probe: str, gpu: int, *, quick: bool, progress: Callable[[int, int, str], None]) -> dict[str, Any]:
    """Run a probe in another process; return its measurements in the form of `_core.gpu_probe`.

    Raises:
        CalibrationError: it failed, or its process ended.

    """
    command = [sys.executable, "-m", __name__, probe, str(gpu), "quick" if quick else "full"]
    # A session of its own: Ctrl-C is for us, who then end it.
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:  # noqa: S603 - ourselves
        try:
            return _hear(process, progress)
        finally:
            process.kill()


def _hear(process: subprocess.Popen[str], progress: Callable[[int, int, str], None]) -> dict[str, Any]:
    for line in process.stdout or ():
        kind, value = json.loads(line)
        if kind == "step":
            progress(*value)
        elif kind == "error":
            raise of_engine(_core.GpuError(*value), CalibrationError)
        else:
            return _opened(value)
    raise CalibrationError(f"its process ended before it had measured everything (status {process.wait()})")


def _opened(result: dict[str, Any]) -> dict[str, Any]:
    """Records are bytes, which lines of text cannot contain."""
    if activity := result["activity"]:
        activity["records"] = base64.b64decode(activity["records"])
    return result


def _closed(result: dict[str, Any]) -> dict[str, Any]:
    if activity := result["activity"]:
        activity["records"] = base64.b64encode(activity["records"]).decode()
    return result


def main() -> None:
    """Measure, and report to the parent process."""
    # Lines are ours alone: what libraries print goes where errors go.
    with os.fdopen(os.dup(1), "w") as out:
        os.dup2(2, 1)
        try:
            _tell(out, *sys.argv[1:])
        except BrokenPipeError:
            os._exit(1)  # the parent process was stopped, so there is no one to report to


def _tell(out: TextIO, probe: str, gpu: str, effort: str) -> None:
    def tell(kind: str, value: object) -> None:
        out.write(json.dumps([kind, value]) + "\n")
        out.flush()

    libraries.load()
    try:
        result = _core.gpu_probe(probe, int(gpu), effort == "quick", lambda *step: tell("step", step))
    except _core.GpuError as error:
        tell("error", error.args)
    else:
        tell("result", _closed(result))


if __name__ == "__main__":
    main()
