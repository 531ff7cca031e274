"""One run, in this process or in one of its own, and the folder that its result goes to."""

from __future__ import annotations

import contextlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import octavo._core as _core
from octavo.errors import OutputError
from octavo.files import disk
from octavo.files.notes import note, notes_told
from octavo.isolation.process import Process, VanishedError, Wish
from octavo.policies.find import is_object
from octavo.runs import folder, lines
from octavo.scenarios.scenario import Scenario
from octavo.trace.folder import check_all

if TYPE_CHECKING:
    from collections.abc import Callable

_WORKER = "octavo.runs.worker"


@dataclass(frozen=True)
class Limits:
    """Limits of a run."""

    memory: int | None
    """Bytes."""
    time: int | None
    """Picoseconds of simulated time."""


@dataclass(frozen=True)
class Order:
    """A run, and what happens to its result."""

    scenario: Scenario
    folder: Path
    limits: Limits
    timeline: Path | None = None
    """Where its Perfetto trace goes, if one is requested: the run then starts even if it is finished."""
    force: bool = False
    """Replace what the folder holds."""
    lines: Path | None = None
    """Where the lines of its GPUs' memories go, if they are requested: the same as for the trace."""

    def packed(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "scenario": self.scenario.toml,
            "folder": str(self.folder.absolute()),
            "limits": asdict(self.limits),
            "timeline": None if self.timeline is None else str(self.timeline.absolute()),
            "force": self.force,
            "lines": None if self.lines is None else str(self.lines.absolute()),
        }

    @classmethod
    def unpacked(cls, found: dict[str, Any]) -> Order:
        """The same again."""
        timeline, lines = (None if found[name] is None else Path(found[name]) for name in ("timeline", "lines"))
        limits = Limits(**found["limits"])
        return cls(Scenario(found["scenario"]), Path(found["folder"]), limits, timeline, found["force"], lines)


def carry_out(order: Order, report: Callable[[float], bool]) -> None:
    """Run a scenario into its folder, unless its result exists; stop when `report` of its progress returns false.

    Raises:
        OctavoError: a trace or the folder cannot be used.
        SimulationError: of the engine, or another of its errors.

    """
    told_to_stop = False

    def tell(share: float, _time_ps: int) -> bool:
        nonlocal told_to_stop
        told_to_stop = not report(share)
        return not told_to_stop

    with folder.locked(order.folder) as target:
        found = folder.finished(target, order.scenario, force=order.force)
        if (
            found is not None and order.timeline is None and order.lines is None
        ):  # Another process wrote it since we looked.
            return
        check_all(order.scenario.traces)
        try:
            with disk.replaced_file(order.timeline) as timeline, lines.written(order.lines) as listed, notes_told():
                limits = order.limits
                results = _core.run(order.scenario.toml, tell, timeline, limits.memory, limits.time, listed)
        except _core.Interrupted:
            if told_to_stop:
                raise
            message = "a policy raised KeyboardInterrupt, although nobody pressed Ctrl-C"
            raise _core.PolicyError(message, "") from None
        folder.save(target, order.scenario, *results)


def needs_a_process(scenario: Scenario) -> bool:
    """Whether code from outside Octavo decides in a run, so that it needs a process of its own.

    Classes that were given as objects exist only in this process.
    """
    own = scenario.python_strategies
    return bool(own) and not any(is_object(name, digest) for name, digest in own)


def worker() -> Process:
    """A process that carries out orders."""
    return Process(_WORKER)


def carry_out_in(process: Process, order: Order, report: Callable[[float], object], wish: Callable[[], Wish]) -> None:
    """The same as `carry_out`, in a process; errors are the same, too.

    Raises:
        PolicyError: of the engine: the process ended before the run did. Nothing of the run is left.

    """

    def told(said: dict[str, Any]) -> None:
        if "note" in said:
            note(said["note"])
        else:
            report(said["share"])

    try:
        process.ask(order.packed(), told=told, wish=wish)
    except VanishedError as error:
        with contextlib.suppress(OutputError):
            folder.mend(order.folder)
        names = ", ".join(f"`{name}`" for name, _ in order.scenario.python_strategies)
        ran = f"; the code of {names} ran in it" if names else ""
        kind = _core.PolicyError if names else _core.SimulationError
        raise kind(f"{error.args[0]}{ran}", *([error.details] if names else [])) from None


def carry_out_apart(order: Order, report: Callable[[float], object], wish: Callable[[], Wish]) -> None:
    """The same, in a process that does nothing else."""
    with worker() as process:
        carry_out_in(process, order, report, wish)
