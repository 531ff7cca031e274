"""Ray clusters of several raylets on the loopback device of this machine, started with the commands of the guide."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RAY = Path(sys.executable).with_name("ray")
MARK = "OCTAVO_TEST_RAYLET"
"""Variable that every process of a raylet has, by which it is found."""
_FEWER = ["--include-log-monitor", "false", "--disable-usage-stats"]
"""Without the processes that nothing here needs."""
_QUICK = {
    "RAY_health_check_period_ms": "1000",
    "RAY_gcs_rpc_server_reconnect_timeout_s": "2",
    "RAY_CLIENT_RECONNECT_GRACE_PERIOD": "2",
}
"""What Ray takes a minute for, it notices within seconds."""


class Cluster:
    """A head, which others join; with a token, which its first command makes."""

    def __init__(self, head: str = "127.0.0.2", cores: int = 1) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="octavo-ray-"))  # Sockets have short paths.
        home = self.folder / "home"
        home.mkdir()
        self._environment = {**os.environ, **_QUICK, "HOME": str(home), "RAY_USAGE_STATS_ENABLED": "0"}
        self._environment.pop("RAY_ADDRESS", None)
        self._gcs, client = _free_ports(2)
        self.address = f"ray://127.0.0.1:{client}"
        self.direct = f"{head}:{self._gcs}"
        try:
            self._ray("get-auth-token", "--generate")
            ports = ["--port", str(self._gcs), "--ray-client-server-port", str(client)]
            self._start(
                head, cores, ["--head", "--include-dashboard", "false", *ports, "--temp-dir", str(self.folder / "ray")]
            )
        except BaseException:
            self.close()
            raise

    @property
    def environment(self) -> dict[str, str]:
        """Of a command that uses the cluster: the token is at home."""
        return dict(self._environment)

    def join(self, host: str, path: Path | None = None, cores: int = 1) -> None:
        """Start one more raylet, where Python finds modules in `path` first."""
        more = {"RAY_AUTH_MODE": "token"} | ({} if path is None else {"PYTHONPATH": str(path)})
        self._start(host, cores, ["--address", self.direct], more)

    def kill(self, host: str, name: str = "raylet") -> None:
        """Kill the process of that name of a raylet, at once."""
        for process in _marked(self._mark(host)):
            if (process / "comm").read_text().strip() == name:
                os.kill(int(process.name), signal.SIGKILL)

    def kill_all(self, host: str) -> None:
        """Kill every process of a raylet, at once."""
        for process in _marked(self._mark(host)):
            _end(process)

    def close(self) -> None:
        """End all."""
        for _ in range(2):  # Some start others.
            for process in _marked(str(self.folder)):
                _end(process)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _mark(self, host: str) -> str:
        return f"{self.folder}@{host}"

    def _start(self, host: str, cores: int, options: list[str], more: dict[str, str] | None = None) -> None:
        here = ["--node-ip-address", host, "--num-cpus", str(cores)]
        self._ray("start", *options, *here, *_FEWER, **(more or {}), **{MARK: self._mark(host)})

    def _ray(self, *arguments: str, **more: str) -> None:
        done = subprocess.run(
            [RAY, *arguments], env=self._environment | more, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def _marked(mark: str) -> Iterator[Path]:
    """Processes with a variable that begins so."""
    wanted = f"{MARK}={mark}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            found = (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(each.startswith(wanted) for each in found):
            yield process


def _end(process: Path) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(int(process.name), signal.SIGKILL)


def _free_ports(count: int) -> list[int]:
    """Ports that nobody listens on; Ray's own are below them."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def until(true: Callable[[], object], otherwise: Callable[[], object], seconds: float = 150) -> None:
    """Wait until a function says yes; if that takes too long, the other one says what was there instead."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, otherwise()
        time.sleep(0.05)
