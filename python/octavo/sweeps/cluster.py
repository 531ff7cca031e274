"""Points on a Ray cluster: results come back over the network, so no folder has to be shared."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import octavo._core as _core
from octavo.apart.raised import explained
from octavo.errors import OctavoError
from octavo.runs import folder, memory
from octavo.sweeps.crew import Ended

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octavo.sweeps.crew import Job


class ClusterError(OctavoError):
    """A cluster that cannot be used."""

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
        self._ray = _imported()
        self._connect(address, slots)
        self.slots = slots or max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        self._task = self._ray.remote(num_cpus=1)(simulate)
        # Ray watches the free memory of the nodes of an existing cluster.
        self._memory = memory.whole(here=not (address or os.environ.get("RAY_ADDRESS")))
        self._memory_limit = memory.part(self._memory, self.slots)
        self._running: dict[Any, Job] = {}

    def _connect(self, address: str | None, slots: int | None) -> None:
        address = address or os.environ.get("RAY_ADDRESS")
        own: dict[str, Any] = {} if address else {"num_cpus": slots, "include_dashboard": False}
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # Octavo asks for no GPU; Ray need not warn.
        try:
            self._ray.init(address=address or "local", log_to_driver=False, logging_level="error", **own)
        except Exception as error:
            raise ClusterError(
                f"cannot use the Ray cluster {address or 'on this machine'}: {_said(error)}",
                "start one with `ray start --head` (Ray may want its token: RAY_AUTH_TOKEN), or leave the address out",
            ) from None

    def expect(self, jobs: int) -> None:
        """Share among this many jobs what the user said, or what is free on this machine if the cluster is our own."""
        self._memory_limit = memory.part(self._memory, min(self.slots, jobs))

    def start(self, job: Job) -> None:
        """Begin a job somewhere on the cluster."""
        self._running[self._task.remote(job.point.scenario.toml, self._memory_limit, job.time_limit)] = job

    def poll(self, seconds: float) -> list[Ended]:
        """Jobs that ended; their results are written here."""
        if not self._running:
            return []
        done, _ = self._ray.wait(list(self._running), num_returns=1, timeout=seconds)
        return [
            Ended(job, self._receive(reference, job)) for reference in done for job in [self._running.pop(reference)]
        ]

    def _receive(self, reference: Any, job: Job) -> str | None:
        try:
            found = self._ray.get(reference)
        except Exception as error:
            return f"the cluster lost it: {_said(error)}"
        if found["octavo"] != _core.VERSION:
            return f"the cluster has Octavo {found['octavo']}, here is {_core.VERSION}"
        if found["error"] is not None:
            return str(found["error"])
        if found["over_time"]:
            return None
        try:
            with folder.locked(job.folder) as place:
                folder.save(place, job.point.scenario, found["summary"], found["tables"])
        except OctavoError as error:
            return explained(error)
        return None

    def shares(self) -> Mapping[str, float]:
        """Which points were handed out; the cluster does not say how far they are."""
        return {job.point.label: 0.0 for job in self._running.values()}

    def close(self) -> None:
        """Cancel what is running, and leave the cluster (or end our own)."""
        for reference in self._running:
            self._ray.cancel(reference, force=True)
        self._ray.shutdown()


def simulate(toml: str, memory_limit: int | None, time_limit: int | None = None) -> dict[str, Any]:
    """Run a resolved scenario on a node of the cluster; everything that its folder will hold, or what went wrong.

    It may take `memory_limit` bytes, and `time_limit` picoseconds of simulated time; any if there is none.
    """
    found: dict[str, Any] = {"octavo": _core.VERSION, "error": None, "over_time": False}
    try:
        found["summary"], found["tables"] = _core.run(toml, None, None, memory_limit, time_limit)
    except _core.OverTime:
        found["over_time"] = True
    except BaseException as error:
        found["error"] = explained(error)
    return found


def _said(error: Exception) -> str:
    """What Ray says, without the traceback that it puts into its messages: the first line and the last."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return lines[0] if len(lines) == 1 else f"{lines[0]} {lines[-1]}"


def _imported() -> Any:
    try:
        import ray  # noqa: PLC0415 - an extra
    except ImportError:
        raise ClusterError("Ray is not installed", "install it with `pip install 'octavo[ray]'`") from None
    return ray
