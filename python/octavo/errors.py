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
_ALSO = {
    "workload": ("workloads", "source"),
    "workload.name": ("workloads", "source"),
    "memory.placement": ("placements",),
    "memory.sharing": ("sharings",),
    "program.kind": ("kinds",),
}
"""Keys that arguments of other names stand for, too: several of a kind, or the workload that `octavo.advise` takes."""
_SAME = (
    *("alone", "baseline", "best", "budget", "direction", "executor", "exhaustive", "faults"),
    *("fidelity", "kind", "node", "on", "perfetto", "placements", "quick", "readings", "replicates", "scale", "seed"),
    *("memory", "runs", "trials", "trend", "workers", "workload"),
)
"""Options of the command line that arguments in Python have the names of."""
_OPTIONS = {
    "-o": "output",
    "--force": "force=True",
    **{f"--{name}": name.replace("-", "_") for name in _SAME},
    "--memory-limit": "octavo.limit_memory",
}
"""Options of the command line, and what they are in Python."""


class OctavoError(Exception):
    """Something the user can do something about: a message, perhaps a hint, and the command's exit status."""

    exit_code = 1
    details = ""
    """Lines that belong below the message, such as a traceback."""
    typed: frozenset[str] | None = None
    """Arguments of the Python function that failed; nothing if it is unknown which there were."""

    def __init__(self, message: str, hint: str | None = None, *, code: str = "") -> None:
        """Say what went wrong.

        Args:
            message: what was expected and what was found.
            hint: what may help.
            code: a name of the mistake that stays when its words change, such as `unknown-variant`; may be empty.

        """
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code

    def __str__(self) -> str:
        """Message and hint for Python: of arguments, where the command line speaks of options."""
        hint = "" if self.hint is None else f"\n{cut(_with_arguments(self.hint))}"
        return cut(_with_arguments(_of_argument(self.message, self.typed))) + hint


def _of_argument(text: str, typed: frozenset[str] | None) -> str:
    """A message that begins with the argument it is about, where it began with an option."""
    found = re.match(r"--set ([\w.\[\]-]+)=.*?: `([^`]+)`: ", text, re.DOTALL)
    if found:
        return f"{_place(found[1], found[2], typed)}: {text[found.end() :]}"
    text = re.sub(r"^--set ", "argument `overrides`: ", text)
    return re.sub(r"^--([a-z]+(?:-[a-z]+)*): ", lambda option: f"argument `{option[1].replace('-', '_')}`: ", text)


def _place(key: str, at: str, typed: frozenset[str] | None) -> str:
    """The argument that set a key, and where in its value the mistake is, if that is deeper than the key."""
    name = ARGUMENTS.get(key)
    names = (name, *_ALSO.get(key, ())) if name else ()
    given = [each for each in names if each and (typed is None or each in typed)]
    if name == "jobs" and given:
        return f"argument `{at.replace('job', 'jobs', 1)}`"
    place = f"argument `{given[0]}`" if given else f'overrides["{key}"]'
    return place if at in (key, f"{key}.name") else f"{place}: `{at}`"


def _with_arguments(text: str) -> str:
    """A text with arguments in place of options; commands in backticks stay as they are."""
    parts = text.split("`")
    for index in range(0, len(parts), 2):
        parts[index] = re.sub(
            r"(?<![\w-])--?[a-z]+(?:-[a-z]+)*", lambda found: _OPTIONS.get(found[0], found[0]), parts[index]
        )
    return "`".join(parts)


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
