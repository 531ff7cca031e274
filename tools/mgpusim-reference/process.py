"""One run of a program: in a folder of its own, with a limit on its CPU time."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import resource
    from collections.abc import Callable

# Without any CPU time for so long, and for half its limit, a run is taken to hang.
PATIENCE = 60.0  # seconds
POLL = 0.2  # seconds


@dataclass(frozen=True)
class Program:
    """What to run, and where."""

    binary: Path
    arguments: list[str]
    scratch: Path
    """Folders of runs are made in here."""
    limit: float
    """Seconds of CPU time."""


class Watch:
    """Says when to give up: too much CPU time, or too long without any."""

    def __init__(self, pid: int, limit: float) -> None:
        self.pid, self.limit = pid, limit
        self.cpu = 0.0
        self.began = self.advanced = time.monotonic()

    def expired(self) -> bool:
        """Whether the limit is passed."""
        now, cpu = time.monotonic(), cpu_seconds(self.pid)
        if cpu is None:
            cpu = now - self.began  # not readable here: let wall time count
        if cpu - self.cpu >= 1:
            self.cpu, self.advanced = cpu, now
        return cpu > self.limit or now - self.advanced > max(PATIENCE, self.limit / 2)


def cpu_seconds(pid: int) -> float | None:
    """CPU time of a running process, or None where it cannot be read."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return None


@dataclass(frozen=True)
class Ended:
    """How a process ended."""

    code: int
    expired: bool
    usage: resource.struct_rusage


def wait(child: subprocess.Popen[bytes], limit: float) -> Ended:
    """Wait for a process and kill its group when it passes the limit, or when this program is stopped."""
    watch = Watch(child.pid, limit)
    expired = False
    try:
        while True:
            pid, status, usage = os.wait4(child.pid, 0 if expired else os.WNOHANG)
            if pid:
                return Ended(os.waitstatus_to_exitcode(status), expired, usage)
            expired = watch.expired()
            if expired:
                os.killpg(child.pid, signal.SIGKILL)
            else:
                time.sleep(POLL)
    except BaseException:
        os.killpg(child.pid, signal.SIGKILL)
        os.wait4(child.pid, 0)
        raise
    finally:
        child.returncode = 0  # it has been waited for


def run(program: Program, collect: Callable[[Path], Any]) -> tuple[dict[str, Any], Any]:
    """Run a program in a fresh folder.

    Returns columns of its row, with an `error` that is empty if there was none, and what `collect` makes of the
    folder, or None. A `ValueError` of `collect` becomes the row's error.
    """
    name = program.binary.name
    folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=program.scratch))
    log = folder / "output.txt"
    started = time.monotonic()
    with log.open("wb") as output:
        child = subprocess.Popen(
            ["nice", "-n", "5", str(program.binary), *program.arguments],
            cwd=folder,
            env=os.environ | {"GOMAXPROCS": "1"},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        ended = wait(child, program.limit)
    row = {
        "command": " ".join([name, *program.arguments]),
        "wall_s": f"{time.monotonic() - started:.1f}",
        "cpu_s": f"{ended.usage.ru_utime + ended.usage.ru_stime:.1f}",
        "peak_rss_mb": round(ended.usage.ru_maxrss / 1024),
    }
    collected = None
    try:
        check(ended, row, log)
        collected = collect(folder)
        row["error"] = ""
        shutil.rmtree(folder)
    except ValueError as error:
        row["error"] = str(error)
        for database in folder.glob("*.sqlite3*"):
            database.unlink()
    return row, collected


def check(ended: Ended, row: dict[str, Any], log: Path) -> None:
    """Raise ValueError if the process did not end well."""
    if ended.expired:
        raise ValueError(f"stopped after {row['cpu_s']} s of CPU time, {row['wall_s']} s in all")
    if ended.code != 0:
        raise ValueError(f"exit {ended.code}: {first_error(log)}")


def first_error(log: Path) -> str:
    """The line that says what went wrong, without folders."""
    lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if re.search(r"panic|fatal error|flag provided", line, re.IGNORECASE)]
    line = next(iter(telling), lines[-1] if lines else "no output")
    return re.sub(r"\s+", " ", re.sub(r"(/[\w.@+-]+)+/", "", line)).strip()[:160]
