"""Errors, in words for users."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from octavo.plain import cut

if TYPE_CHECKING:
    from pathlib import Path

    from typing_extensions import Unpack

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
"""Further arguments that set a key: those with several values, or the workload that `octavo.advise` takes."""
_SAME = (
    *("alone", "baseline", "best", "budget", "direction", "executor", "exhaustive", "faults"),
    *("fidelity", "kind", "node", "on", "perfetto", "placements", "quick", "readings", "replicates", "scale", "seed"),
    *("memory", "runs", "trials", "trend", "workers", "workload"),
)
"""Options of the command line whose names are also arguments in Python."""
_OPTIONS = {
    "-o": "output",
    "--force": "force=True",
    **{f"--{name}": name.replace("-", "_") for name in _SAME},
    "--memory-limit": "octavo.limit_memory",
}
"""Options of the command line, and their arguments in Python."""


CODES = {
    "already-set": "a key that the command or the study sets itself",
    "ambiguous": "several things that are meant to be one",
    "bad-measurement": "a GPU that cannot be measured, or samples or a machine file that cannot be used",
    "bad-output": "a result that cannot be written or read, for a reason that has no code",
    "bad-policy": "a policy in Python that raised or answered nonsense",
    "bad-profile": "a profile of a real program that cannot be used, for a reason that has no code",
    "bad-program": "a CUDA program that cannot be rewritten",
    "bad-scenario": "a scenario that cannot be used, for a reason that has no code",
    "bad-trace": "a recorded trace that cannot be used, for a reason that has no code",
    "bad-workload": "a workload in Python that raised, or that says something else when it is asked again",
    "cannot-compare": "a comparison with another simulator or a real GPU that cannot be made",
    "cannot-run": "a scenario that is well formed, but cannot be simulated",
    "conflict": "options or keys that exclude one another",
    "damaged": "a file that is no longer what was written",
    "endless": "a run that does not end",
    "exists": "something stands where the result is to go",
    "failed": "anything else",
    "in-use": "another process writes there",
    "interrupted": "the user stopped the work",
    "is-a-folder": "a folder where a file is expected",
    "link": "a symbolic link, which is not followed",
    "lost-machines": "machines of a cluster that no longer answer",
    "memory-limit": "a run that takes more of this machine's memory than it may",
    "missing": "a file, a table or rows that are not there",
    "no-advice": "a question about placement that has no answer",
    "no-cluster": "a cluster that cannot be used",
    "no-result": "a folder without a finished result",
    "no-room": "a memory is full, simulated or of a tier; `key` decides that nothing leaves it",
    "no-runs": "nothing to report on",
    "no-scenario": "a profile of a real program, where a simulated run is expected",
    "no-time": "a question about time to a run without time",
    "not-a-folder": "a file where a folder is expected",
    "not-installed": "a package or a program that is not installed",
    "not-ours": "files that Octavo did not write, and so does not replace",
    "nothing-there": "nothing stands at the path",
    "other-format": "a file of another format or version",
    "other-result": "the result of something else stands where the result is to go",
    "refused-call": "a call that the GPU's driver refused; `key` is its name",
    "syntax": "a text that is not TOML, or not `KEY=VALUE`",
    "too-large": "more than can be simulated",
    "unexpected-value": "a value that is not what is expected there",
    "unknown-key": "a key, an option or a column that does not exist",
    "unknown-name": "a name that nothing has",
    "unknown-variant": "a name that no variant of the comparison has",
    "unreadable": "a file that cannot be read",
    "unwritable": "a file or a folder that cannot be written",
}
"""Kinds of mistakes by name: the names stay when the words of messages change."""


class Facts(TypedDict, total=False):
    """The facts of an error, beside its words."""

    code: str
    """One of `CODES`; the one of the class if no other is given."""
    file: str | Path | None
    """The file or folder."""
    line: int | None
    """Line of a text from 1, or row of a table from 0."""
    key: str | None
    """Key, column, or argument."""
    expected: object
    """The permitted value, or words for it."""
    found: object
    """What is there."""


class OctavoError(Exception):
    """A problem that the user can solve: a message, perhaps a hint, and the command's exit status."""

    code = "failed"
    exit_code = 1
    details = ""
    """Lines to print below the message, such as a traceback."""
    typed: frozenset[str] | None = None
    """Arguments of the Python function that failed; None if they are unknown."""

    def __init__(self, message: str, hint: str | None = None, **facts: Unpack[Facts]) -> None:
        """Say what went wrong.

        Args:
            message: what was expected and what was found.
            hint: what may help.
            facts: the same for programs; each is an attribute: `code`, `file`, `line`, `key`, `expected`, `found`.

        """
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = facts.get("code") or type(self).code
        self.file: str | None = _plain(facts.get("file"))
        self.line = facts.get("line")
        self.key = facts.get("key")
        self.expected = _plain(facts.get("expected"))
        self.found = _plain(facts.get("found"))

    @property
    def facts(self) -> Facts:
        """The facts of the error, for another error about the same mistake."""
        return {name: getattr(self, name) for name in Facts.__annotations__}  # type: ignore[return-value]

    def __str__(self) -> str:
        """Message and hint for Python: they name arguments where the command line names options."""
        hint = "" if self.hint is None else f"\n{cut(_with_arguments(self.hint))}"
        return cut(_with_arguments(_of_argument(self.message, self.typed))) + hint


def _plain(value: Any) -> Any:
    """A fact in a form that JSON can hold."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (list, tuple, set, frozenset, dict)):
        return [_plain(each) for each in value]
    return str(value)


Kind = TypeVar("Kind", bound=OctavoError)


def again(error: OctavoError, kind: type[Kind], message: str = "", hint: str | None = None) -> Kind:
    """The same mistake as an error of another class, perhaps in other words."""
    return kind(message or error.message, hint or error.hint, **error.facts)


def of_engine(error: Exception, kind: type[Kind], message: str = "", hint: str | None = None) -> Kind:
    """The same mistake as the engine's error, whose arguments are its message, a hint if there is one, and facts."""
    text, *rest = error.args
    facts: Facts = rest.pop() if rest and isinstance(rest[-1], dict) else {}
    return kind(message or text, hint or (rest[0] if rest else None), **facts)


def _of_argument(text: str, typed: frozenset[str] | None) -> str:
    """A message that begins with its argument, where it began with an option."""
    found = re.match(r"--set ([\w.\[\]-]+)=.*?: `([^`]+)`: ", text, re.DOTALL)
    if found:
        return f"{_place(found[1], found[2], typed)}: {text[found.end() :]}"
    text = re.sub(r"^--set ", "argument `overrides`: ", text)
    return re.sub(r"^--([a-z]+(?:-[a-z]+)*): ", lambda option: f"argument `{option[1].replace('-', '_')}`: ", text)


def _place(key: str, at: str, typed: frozenset[str] | None) -> str:
    """The argument that set a key, and where in its value the mistake is, if it is deeper than the key."""
    name = ARGUMENTS.get(key)
    names = (name, *_ALSO.get(key, ())) if name else ()
    given = [each for each in names if each and (typed is None or each in typed)]
    if name == "jobs" and given:
        return f"argument `{at.replace('job', 'jobs', 1)}`"
    place = f"argument `{given[0]}`" if given else f'overrides["{key}"]'
    return place if at in (key, f"{key}.name") else f"{place}: `{at}`"


def _with_arguments(text: str) -> str:
    """A text with arguments instead of options; commands in backticks stay unchanged."""
    parts = text.split("`")
    for index in range(0, len(parts), 2):
        parts[index] = re.sub(
            r"(?<![\w-])--?[a-z]+(?:-[a-z]+)*", lambda found: _OPTIONS.get(found[0], found[0]), parts[index]
        )
    return "`".join(parts)


class ScenarioError(OctavoError):
    """A scenario that cannot be used."""

    code = "bad-scenario"
    exit_code = 2


class WorkloadError(ScenarioError):
    """A workload written in Python that raised or said what cannot be; `file` and `line` are where in its file."""

    code = "bad-workload"


class SimulationError(OctavoError):
    """A scenario that is well formed but cannot be simulated, such as one with too little memory."""

    code = "cannot-run"
    exit_code = 2


class OutOfMemoryError(SimulationError):
    """A run in which a simulated memory is full and nothing can leave it."""

    code = "no-room"


class PolicyError(SimulationError):
    """A policy written in Python that raised an exception or gave an invalid answer; the exception is the cause."""

    code = "bad-policy"

    def __init__(self, message: str, traceback: str = "", **facts: Unpack[Facts]) -> None:
        super().__init__(message, **facts)
        self.details = traceback.rstrip()


class OutputError(OctavoError):
    """A result that cannot be written or read."""

    code = "bad-output"
    exit_code = 2


class DamagedError(OutputError):
    """A result that has changed since it was written."""

    code = "damaged"


class TraceError(OctavoError):
    """A recorded trace that cannot be read or written."""

    code = "bad-trace"
    exit_code = 2


class ProfileError(OctavoError):
    """A profile of a real program that cannot be read."""

    code = "bad-profile"
    exit_code = 2


class ValidationError(OctavoError):
    """A comparison with another simulator that cannot be made."""

    code = "cannot-compare"
    exit_code = 2


class AdviceError(OctavoError):
    """A question about placement that has no answer, such as one about a machine without bandwidth."""

    code = "no-advice"
    exit_code = 2


class CalibrationError(OctavoError):
    """A GPU that cannot be measured, or samples or a machine file that cannot be used."""

    code = "bad-measurement"
    exit_code = 2


class TierError(OctavoError):
    """A tier that cannot be made, or does not do what it was asked to."""

    code = "refused-call"
    exit_code = 2


class InterruptedRun(OctavoError):  # noqa: N818 - nothing went wrong
    """The user stopped the work; what was finished is kept."""

    code = "interrupted"
    exit_code = 130
