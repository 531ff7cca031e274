"""A process that is connected to a Ray cluster: jobs come in as lines of JSON, outcomes go out in the same way.

Ray ends the connected process when the cluster is gone, without an exception in Python, so it must not be the user's
process. It writes the results as they come back over the network, so no shared folder is needed.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from octavo.isolation.errors import explained
from octavo.runs import folder
from octavo.scenarios.scenario import Scenario
from octavo.sweeps.crew import arrived
from octavo.sweeps.machines import LostMachinesError, Machines, NoMachineError, Task, said
from octavo.sweeps.remote import needed

if TYPE_CHECKING:
    from collections.abc import Callable

    from octavo.sweeps.machines import Outcome

    Answer = Callable[[dict[str, Any]], None]

_STEP_SECONDS = 0.1
_IDLE_SECONDS = 1.0
_TOKENS = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")
"""Variables that select the token for Ray's connection."""


def main() -> None:
    """Serve until the input ends or the cluster does."""
    answers = _private_output()

    def answer(value: dict[str, Any]) -> None:
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    try:
        order = json.loads(sys.stdin.readline())
        ray = _connected(order["address"], order["slots"])
    except Exception as error:
        answer({"refused": said(error)})
        return
    try:
        _serve(Machines(ray, order["slots"], str(Path.cwd()), lambda text: answer({"note": text})), answer)
    except NoMachineError as error:
        answer({"unusable": error.message})
    except LostMachinesError as error:
        answer({"lost": error.message})
    except BrokenPipeError:
        pass  # Nobody listens any more.
    except Exception as error:
        answer({"lost": said(error)})
        os._exit(1)  # What is gone cannot be left in order.
    ray.shutdown()
    os._exit(0)


def _private_output() -> TextIO:
    """Standard output only for answers: what Ray prints goes to standard error from now on."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def _connected(address: str | None, slots: int | None) -> Any:
    """The module of Ray, connected to a cluster, or to a new one on this machine that ends with this process."""
    address = address or os.environ.get("RAY_ADDRESS")
    own: dict[str, Any] = {} if address else {"num_cpus": slots, "include_dashboard": False}
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # Octavo asks for no GPU; Ray need not warn.
    _use_token()
    import ray  # noqa: PLC0415 - an extra, which reads the environment when it is imported

    ray.init(address=address or "local", log_to_driver=False, logging_level=logging.ERROR, **own)
    return ray


def _use_token() -> None:
    """Connect with a token if there is one, as `ray start` does; clusters without a token ignore it.

    Ray would leave it out by default, and a cluster that requires one then never answers.
    """
    given = any(os.environ.get(name) for name in _TOKENS) or (Path.home() / ".ray" / "auth_token").is_file()
    if given:
        os.environ.setdefault("RAY_AUTH_MODE", "token")


def _serve(machines: Machines, answer: Answer) -> None:
    """Take jobs and report their outcomes, until there are no more."""
    jobs: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=[jobs], daemon=True).start()
    slots = None
    folders: dict[int, Path] = {}
    while True:
        if machines.slots != slots:
            slots = machines.slots
            answer({"slots": slots})
        for job in arrived(jobs, 0 if machines.busy else _IDLE_SECONDS):
            if job is None:
                machines.close()
                return
            folders[job["job"]] = Path(job["folder"])
            try:
                machines.take(_task(job))
            except Exception as error:
                answer({"ended": job["job"], "error": explained(error), "machine": None, "engine": None})
        for ended in machines.step(_STEP_SECONDS):
            problem = _landed(ended, folders.pop(ended.task.number))
            place = {"machine": ended.machine, "engine": ended.machine and machines.engine}
            answer({"ended": ended.task.number, "error": problem, **place})


def _read(jobs: queue.SimpleQueue[dict[str, Any] | None]) -> None:
    for line in sys.stdin:
        jobs.put(json.loads(line))
    jobs.put(None)


def _task(job: dict[str, Any]) -> Task:
    files = needed(Scenario(job["scenario"]))
    return Task(job["job"], job["scenario"], files, (job["memory_limit"], job["time_limit"]))


def _landed(ended: Outcome, target: Path) -> str | None:
    """Write the result or return the error, if there is one; a point that exceeded its time leaves nothing."""
    if "error" in ended.found:
        return str(ended.found["error"])
    if "tables" not in ended.found:
        return None
    try:
        with folder.locked(target) as place:
            folder.save(place, Scenario(ended.task.scenario), ended.found["summary"], ended.found["tables"])
    except Exception as error:
        return explained(error)
    return None


if __name__ == "__main__":
    main()
