"""Octavo's engine. Use the package `octavo` instead: this module's functions may change at any time."""

from collections.abc import Callable
from os import PathLike
from typing import Any, final

__all__ = [
    "Interrupted",
    "ScenarioError",
    "SimulationError",
    "TraceError",
    "TraceWriter",
    "inspect_workload",
    "listing",
    "resolve",
    "run",
    "schema",
    "trace_convert",
    "trace_formats",
    "trace_head",
    "trace_info",
    "trace_validate",
]

_Column = tuple[str, str, bytes | list[str], list[str]]

class ScenarioError(Exception):
    """A scenario that cannot be used; arguments: message, hint or None."""

class SimulationError(Exception):
    """A scenario that cannot be simulated; argument: message."""

class TraceError(Exception):
    """A trace that cannot be read or written; argument: message."""

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
    resolved: str, progress: Callable[[float, int], bool] | None = None, timeline: str | PathLike[str] | None = None
) -> tuple[str, list[tuple[str, list[_Column]]]]:
    """Run a resolved scenario; returns the summary as JSON and the tables."""

def trace_formats() -> list[tuple[str, str, str]]:
    """Every foreign trace format that can be converted: name, summary, source."""

def trace_convert(
    input: str,  # noqa: A002 - as the engine calls it
    output: str,
    format: str | None = None,  # noqa: A002
    replace: bool = False,
    progress: Callable[[float, int], bool] | None = None,
) -> str:
    """Convert a foreign trace into a trace folder; returns the summary as JSON."""

def trace_info(path: str) -> str:
    """A trace in numbers, as JSON."""

def trace_validate(path: str) -> int:
    """Check every rule of the format; returns how many rows there are."""

def trace_head(
    path: str, count: int, launch: int | None = None, group: int | None = None, wavefront: int | None = None
) -> str:
    """The first rows that match, as JSON."""

@final
class TraceWriter:
    """Writes a trace chunk by chunk."""

    def __new__(cls, path: str, lanes: int, source: str, command: str, replace: bool) -> TraceWriter: ...
    def push(
        self,
        columns: list[bytes],
        values: bytes,
        ends: bytes,
        are_addresses: bool,
        code: bytes,
        code_ends: bytes,
        partial: tuple[bytes, bytes] | None,
    ) -> None:
        """Append rows, given as columns of little-endian numbers."""

    def finish(self, allocations: list[tuple[str, int, int, int]], launches: list[tuple[Any, ...]]) -> None:
        """Write the tables, check everything, and let the folder appear."""

    def abandon(self) -> None:
        """Give up; nothing is left behind."""
