"""Points on a Ray cluster, through a process that is connected to it (`connection`)."""

from __future__ import annotations

import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
from typing import TYPE_CHECKING, Any

from octavo import extras
from octavo.errors import OctavoError, again
from octavo.files.notes import note
from octavo.plain import shortened
from octavo.runs import memory
from octavo.sweeps.crew import Ended, LostCrewError, Place, arrived

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octavo.sweeps.crew import Job

_END_SECONDS = 5.0
"""Wall time that the process gets to leave the cluster properly."""
_MOST_SAID = 300
"""The most characters of Ray's messages that are quoted; our choice."""
_WHERE = re.compile(r"^\[.*?\] (\S+:\d+: )?")
"""How a line of Ray's log begins."""
_HINT = (
    "start one with `ray start --head`, or leave the address out; a cluster that wants a token gets it from "
    "~/.ray/auth_token or RAY_AUTH_TOKEN (`ray get-auth-token` on its head prints it)"
)


class ClusterError(OctavoError):
    """A cluster that cannot be used."""

    code = "no-cluster"
    exit_code = 2


class RayCluster:
    """A Ray cluster at an address, or one on this machine that ends with the sweep."""

    def __init__(self, address: str | None, slots: int | None) -> None:
        """Connect.

        Args:
            address: `ray://host:port`, `host:port` or `auto`; without it, what `RAY_ADDRESS` says, or a new cluster
                on this machine.
            slots: jobs at a time; as many as the cluster has cores if left out.

        Raises:
            ClusterError: Ray is not installed, or there is no cluster at the address.

        """
        extras.need("ray")
        known = address or os.environ.get("RAY_ADDRESS")
        self._name = f"the Ray cluster {known}" if known else "the Ray cluster on this machine"
        # Ray watches the free memory of the nodes of an existing cluster.
        self._memory = memory.whole(here=not known)
        self._slots = slots or 1
        self._running: dict[int, Job] = {}
        self._numbers = 0
        self._answers: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._begin(address, slots)
        self._memory_limit = memory.part(self._memory, self.slots)

    def _begin(self, address: str | None, slots: int | None) -> None:
        """Start the process, and wait until it is connected."""
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the rest
        self._process = subprocess.Popen(
            [sys.executable, "-m", "octavo.sweeps.connection"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C does not reach it, so that its end is decided here.
        )
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            self._send({"address": address, "slots": slots})
            self._take(self._answers.get())
        except LostCrewError as error:
            self.close()
            raise again(error, ClusterError) from None
        except BaseException:
            self.close()
            raise

    @property
    def slots(self) -> int:
        """Jobs at a time on the machines that can be used now."""
        return self._slots

    def expect(self, jobs: int) -> None:
        """Divide among this many jobs the user's limit, or this machine's free memory if the cluster is our own."""
        self._memory_limit = memory.part(self._memory, min(self.slots, jobs))

    def start(self, job: Job) -> None:
        """Begin a job somewhere on the cluster."""
        self._numbers += 1
        self._running[self._numbers] = job
        self._send(
            {
                "job": self._numbers,
                "scenario": job.point.scenario.toml,
                "folder": str(job.folder.absolute()),
                "memory_limit": self._memory_limit,
                "time_limit": job.time_limit,
            }
        )

    def poll(self, seconds: float) -> list[Ended]:
        """Jobs that ended; their results are in their folders.

        Raises:
            ClusterError: no machine of the cluster can be used.
            LostCrewError: the cluster is lost.

        """
        return [ended for answer in arrived(self._answers, seconds) for ended in self._take(answer)]

    def shares(self) -> Mapping[str, float]:
        """Which points were handed out; the cluster does not report their progress."""
        return {job.point.label: 0.0 for job in self._running.values()}

    def close(self) -> None:
        """Cancel running jobs, and leave the cluster (or end our own)."""
        assert self._process.stdin is not None  # noqa: S101 - for the type checker
        try:
            self._process.stdin.close()
            self._process.wait(timeout=_END_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            pass
        finally:
            self._process.kill()
            self._process.wait()
            self._log.close()

    def _send(self, order: dict[str, Any]) -> None:
        assert self._process.stdin is not None  # noqa: S101 - for the type checker
        try:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
        except OSError:
            pass  # It is gone; `_listen` says so.

    def _listen(self) -> None:
        """Pass on the messages of the process, and finally that it is gone."""
        assert self._process.stdout is not None  # noqa: S101 - for the type checker
        try:
            for line in self._process.stdout:
                self._answers.put(json.loads(line))
        except ValueError:
            pass  # It ended in the middle of a line, or was closed.
        self._answers.put({"lost": None})

    def _take(self, answer: dict[str, Any]) -> list[Ended]:
        """What an answer means."""
        if "ended" in answer:
            job = self._running.pop(answer["ended"])
            place = None if answer["machine"] is None else Place(answer["machine"], answer["engine"])
            return [Ended(job, answer["error"], place)]
        if "refused" in answer:
            raise ClusterError(f"cannot use {self._name}: {answer['refused']}", _HINT, code="no-cluster")
        if "unusable" in answer:
            raise ClusterError(
                f"cannot use {self._name}: {answer['unusable']}",
                "every machine needs the same build of Octavo as this one; docs/sweeps.md says more",
            )
        if "lost" in answer:
            reason = answer["lost"] or self._last_words()
            raise LostCrewError(f"{self._name} is lost" + (f": {reason}" if reason else ""))
        if "note" in answer:
            note(answer["note"])
        self._slots = answer.get("slots", self._slots)
        return []

    def _last_words(self) -> str:
        """The last line that Ray wrote."""
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").splitlines()
        last = next((line for line in reversed(lines) if line.strip()), "")
        return shortened(_WHERE.sub("", last.strip()), _MOST_SAID)
