"""Errors, in words for users."""

from __future__ import annotations

import re

from octavo.plain import cut

ARGUMENTS = {
    "workload": "workload",
    "workload.name": "workload",
    "workload.scale": "scale",
    "node.preset": "node",
    "memory.placement": "placement",
    "memory.prefetch": "prefetch",
    "memory.eviction": "eviction",
    "memory.demotion": "demotion",
    "memory.sharing": "sharing",
    "memory.guard": "guard",
    "program.kind": "kind",
    "executor.kind": "executor",
    "node.fidelity": "fidelity",
    "seed": "seed",
    "job": "jobs",
}
"""Keys of a scenario that arguments stand for."""
_SAME = ("baseline", "best", "budget", "executor", "kind", "node", "perfetto", "placements", "workers", "workload")
"""Options of the command line that arguments in Python have the names of."""
_OPTIONS = {
    "-o": "output",
    "--force": "force=True",
    **{f"--{name}": name for name in _SAME},
    "--memory-limit": "octavo.limit_memory",
}
"""Options of the command line, and the arguments they are in Python."""


class OctavoError(Exception):
    """Something the user can do something about: a message, perhaps a hint, and the command's exit status."""

    exit_code = 1
    details = ""
    """Lines that belong below the message, such as a traceback."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """Message and hint for Python: of arguments, where the command line speaks of options."""
        hint = "" if self.hint is None else f"\n{cut(_in_python(self.hint))}"
        return cut(_in_python(self.message)) + hint


def _in_python(text: str) -> str:
    """A text with arguments in place of options; commands in backticks stay as they are."""
    text = re.sub(r"^--set ([\w.\[\]-]+)=.*?: (?=`\w)", _argument, text, count=1, flags=re.DOTALL)
    text = re.sub(r"^--set ", "overrides: ", text)
    parts = text.split("`")
    for index in range(0, len(parts), 2):
        parts[index] = re.sub(
            r"(?<![\w-])--?[a-z]+(?:-[a-z]+)*", lambda found: _OPTIONS.get(found[0], found[0]), parts[index]
        )
    return "`".join(parts)


def _argument(found: re.Match[str]) -> str:
    name = ARGUMENTS.get(found[1])
    return f"argument `{name}`: " if name else f'overrides["{found[1]}"]: '


class ScenarioError(OctavoError):
    """A scenario that cannot be used."""

    exit_code = 2


class SimulationError(OctavoError):
    """A scenario that is well formed but cannot be simulated, such as one with too little memory."""

    exit_code = 2


class OutOfMemoryError(SimulationError):
    """A run in which a simulated memory is full and nothing can leave it."""


class PolicyError(SimulationError):
    """A policy written in Python that raised or answered nonsense; what it raised is the cause."""

    def __init__(self, message: str, traceback: str = "") -> None:
        super().__init__(message)
        self.details = traceback.rstrip()


class OutputError(OctavoError):
    """A result that cannot be written or read."""

    exit_code = 2


class DamagedError(OutputError):
    """A result that is no longer what was written."""


class TraceError(OctavoError):
    """A recorded trace that cannot be read or written."""

    exit_code = 2


class ProfileError(OctavoError):
    """A profile of a real program that cannot be read."""

    exit_code = 2


class ValidationError(OctavoError):
    """A comparison with another simulator that cannot be made."""

    exit_code = 2


class AdviceError(OctavoError):
    """A question about placement that has no answer, such as one about a machine without bandwidth."""

    exit_code = 2


class CalibrationError(OctavoError):
    """A GPU that cannot be measured, or samples or a machine file that cannot be used."""

    exit_code = 2


class InterruptedRun(OctavoError):  # noqa: N818 - nothing went wrong
    """The user stopped the work; what was finished is kept."""

    exit_code = 130
