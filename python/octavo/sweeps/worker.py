"""A process that runs points: jobs come in as lines of JSON, progress and outcomes go out the same way.

It ends with its input, or as soon as its output is no longer read.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import octavo._core as _core
from octavo.errors import OctavoError
from octavo.runs import folder
from octavo.runs.answers import private_output
from octavo.runs.memory import NO_MORE
from octavo.scenarios.scenario import Scenario
from octavo.trace.folder import check_all

if TYPE_CHECKING:
    from collections.abc import Callable


def main() -> None:
    """Serve until the input ends."""
    answers = private_output()

    def answer(value: dict[str, Any]) -> None:
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    try:
        for line in sys.stdin:
            job = json.loads(line)
            limits = job["memory_limit"], job["time_limit"]
            answer({"error": _run(Scenario(job["scenario"]), Path(job["folder"]), limits, answer)})
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(1)


def _run(
    scenario: Scenario,
    target: Path,
    limits: tuple[int | None, int | None],
    answer: Callable[[dict[str, Any]], None],
) -> str | None:
    """Run one scenario into its folder; what went wrong, if anything. One that is over time leaves nothing there."""

    def report(share: float, _time_ps: int) -> bool:
        answer({"share": share})
        return True

    try:
        check_all(scenario.traces)
        with folder.locked(target) as place:
            folder.save(place, scenario, *_core.run(scenario.toml, report, None, *limits))
    except _core.OverTime:
        return None
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except BaseException as error:
        return explained(error)
    return None


def explained(error: BaseException) -> str:
    """An error as text: our own as they are, others with their kind."""
    if isinstance(error, _core.PolicyError):
        return "\n".join(error.args).rstrip()
    if isinstance(error, (OctavoError, _core.SimulationError, _core.ScenarioError)):
        return str(error.args[0])
    if isinstance(error, MemoryError):
        return NO_MORE
    if isinstance(error, OSError):
        return f"cannot write the result: {error}"
    return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    main()
