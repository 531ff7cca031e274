"""What can go wrong, in words for whoever asked for it."""

from __future__ import annotations


class OctavoError(Exception):
    """Something the user can do something about: a message, perhaps a hint, and the command's exit status."""

    exit_code = 1
    details = ""
    """Lines that belong below the message, such as a traceback."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ScenarioError(OctavoError):
    """A scenario that cannot be used."""

    exit_code = 2


class SimulationError(OctavoError):
    """A scenario that is well formed but cannot be simulated, such as one with too little memory."""

    exit_code = 2


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
