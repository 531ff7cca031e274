"""Octavo's engine. Use the package `octavo` instead: this module's functions may change at any time."""

from collections.abc import Callable

__all__ = [
    "Interrupted",
    "ScenarioError",
    "SimulationError",
    "inspect_workload",
    "listing",
    "resolve",
    "run",
    "schema",
    "trace_convert",
    "trace_formats",
]

_Column = tuple[str, str, bytes | list[str], list[str]]

class ScenarioError(Exception):
    """A scenario that cannot be used; arguments: message, hint or None."""

class SimulationError(Exception):
    """A scenario that cannot be simulated; argument: message."""

class Interrupted(Exception):  # noqa: N818 - named after what happened, as Rust does
    """The run was stopped by its progress callback."""

def resolve(text: str, name: str, overrides: list[str]) -> tuple[str, str]:
    """Resolve a scenario file and overrides (`key=value`); returns it as TOML and as JSON."""

def schema() -> str:
    """JSON schema of scenario files."""

def listing() -> str:
    """Everything a scenario can name, as JSON."""

def inspect_workload(resolved: str) -> str:
    """What the workload of a resolved scenario touches and shares, as JSON."""

def run(
    resolved: str, progress: Callable[[float, int], bool] | None = None
) -> tuple[str, list[tuple[str, list[_Column]]]]:
    """Run a resolved scenario; returns the summary as JSON and the tables."""

def trace_formats() -> list[tuple[str, str, str]]:
    """Every foreign trace format that can be converted: name, summary, source."""

def trace_convert(
    input: str,
    output: str,
    format: str | None = None,
    replace: bool = False,
    progress: Callable[[float, int], bool] | None = None,
) -> str:
    """Convert a foreign trace into a trace folder; returns the summary as JSON."""
