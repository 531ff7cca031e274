"""`python -m octavo` in processes forked from one that has imported it: half a second of processor time less for each.

The tests start the command hundreds of times. A process of its own imports what commands need, waits for orders on a
socket, and forks a child for each. It starts no threads of its own and computes nothing, so that it can fork.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
import traceback
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

IMPORTED = (
    *(f"octavo.cli.{name}" for name in ("app", "compare", "explain", "report", "run", "sweep", "sink")),
    *("octavo.advice", "octavo.explain", "octavo.report", "octavo.sweeps.api", "matplotlib.figure"),
    "matplotlib.backends.backend_agg",
)
_ORDER = 1 << 20
"""Most bytes of an order: arguments and environment."""


class Warm:
    """A process that has imported Octavo, for as long as this object lives."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, __file__, str(theirs.fileno())]
            self._process = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, start_new_session=True
            )

    def run(self, arguments: Sequence[str], folder: Path, timeout: float) -> subprocess.CompletedProcess[str]:
        """Run `python -m octavo` with these arguments in a folder, and wait for its end."""
        order = {"arguments": list(arguments), "folder": str(folder), "environment": dict(os.environ)}
        with TemporaryFile() as out, TemporaryFile() as err:
            self._socket.settimeout(timeout)
            socket.send_fds(self._socket, [json.dumps(order).encode()], [out.fileno(), err.fileno()])
            try:
                status = json.loads(self._socket.recv(_ORDER))
            except TimeoutError:
                self.close()
                self._start()
                raise subprocess.TimeoutExpired(list(arguments), timeout) from None
            return subprocess.CompletedProcess(list(arguments), status, _text(out), _text(err))

    def close(self) -> None:
        """End the process, and with it what it waits for."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._socket.close()


def _text(file: BinaryIO | Any) -> str:
    file.seek(0)
    return file.read().decode().replace("\r\n", "\n")


def main() -> None:
    """Fork a child for each order, one after another, and tell how it ended."""
    for name in IMPORTED:
        importlib.import_module(name)
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as orders:
        while True:
            text, files, _, _ = socket.recv_fds(orders, _ORDER, 2)
            if not text:
                return
            child = os.fork()
            if child == 0:
                orders.close()
                obey(json.loads(text), files)
            for file in files:
                os.close(file)
            orders.send(json.dumps(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())


def obey(order: dict[str, Any], files: Sequence[int]) -> None:
    """Become the command of an order: never returns."""
    status = 1
    try:
        os.chdir(order["folder"])
        os.environ.clear()
        os.environ.update(order["environment"])
        for file, standard in zip(files, (1, 2), strict=True):
            os.dup2(file, standard)
        sys.argv = ["octavo", *order["arguments"]]
        sys.path[0] = order["folder"]
        runpy.run_module("octavo", run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as end:
        status = _status(end.code)
    except BaseException:
        traceback.print_exc()
    finally:
        threading._shutdown()
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                stream.flush()
        os._exit(status)


def _status(code: object) -> int:
    """What a process that ends so returns."""
    if code is None or isinstance(code, int):
        return int(code or 0) & 0xFF
    print(code, file=sys.stderr)
    return 1


if __name__ == "__main__":
    main()
