"""Advice on what a real program was recorded or profiled to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.advice import by_phase, joined, profiles, recorded, saved, systems
from octavo.advice.answer import Advice
from octavo.errors import AdviceError
from octavo.runs.comparison import experiment_folder
from octavo.runs.held import is_imported
from octavo.runs.result import RunResult

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from octavo.advice.model import System
    from octavo.advice.order import Order
    from octavo.advice.recorded import Recording
    from octavo.advice.systems import SystemConstants
    from octavo.arguments import Arguments

_IMPORTED = ("a profile of unified memory tells no accesses: pinned memory is not considered",)
"""What to know about advice on an imported profile."""


def recording(path: Path, arguments: Arguments, order: Order, output: Path | None) -> Advice:
    """Advice on a recording, which may be joined to a profile of the same process.

    Raises:
        AdviceError: there is no answer, or an argument asks for more than it tells.
        OctavoError: it cannot be used, or the folder cannot be written.

    """
    _check(path, arguments, order)
    if order.by_phase:
        raise AdviceError(
            f"{path}: --by-phase needs the times of pages and kernels, which a recording does not have",
            "import a profile of Nsight Systems, and advise on its folder: octavo import nsys",
        )
    constants = _constants(arguments)
    profile = None if order.faults is None else RunResult.load(order.faults)
    found = _joined(recorded.recording(path, constants.system), profile, constants.system)
    told = recorded.NOTES if profile is None else recorded.NOTES[1:]
    advised = order.plan(found.buffers, constants)
    notes = _notes(told, arguments)
    return _kept(Advice(f"profile {path.name}", advised, constants, notes=notes, recording=found), path, order, output)


def imported(path: Path, arguments: Arguments, order: Order, output: Path | None) -> Advice:
    """Advice on the folder of an imported profile.

    Raises:
        AdviceError: there is no answer, or an argument asks for more than it tells.
        OctavoError: it cannot be used, or the folder cannot be written.

    """
    _check(path, arguments, order)
    constants = _constants(arguments)
    result = RunResult.load(path)
    found = order.plan(profiles.buffers(result, constants.system), constants)
    phases = None
    if order.by_phase:
        phases = by_phase.plan_of_profile(result, profiles.places(result), found, constants.system, order.placements)
    notes = _notes((*_IMPORTED, *_of_import(result)), arguments)
    return _kept(Advice(f"profile {path.name}", found, constants, by_phase=phases, notes=notes), path, order, output)


def _check(profile: Path, arguments: Arguments, order: Order) -> None:
    """A profile has no scenario that could be simulated or changed; only its node is not in it."""
    if order.verify or order.exhaustive:
        raise AdviceError(
            f"{profile}: a profile tells too little to simulate its program",
            "leave out --verify and --exhaustive, or record a trace",
        )
    named = [name for name, value in arguments.items() if name != "node" and value not in (None, [], (), {})]
    if named:
        options = ", ".join("--set" if name == "overrides" else f"--{name}" for name in named)
        raise AdviceError(f"{profile}: a profile has no scenario to change", f"leave out {options}")


def _constants(arguments: Arguments) -> SystemConstants:
    return systems.from_node(arguments.get("node") or systems.DEFAULT_NODE)


def _notes(told: Sequence[str], arguments: Arguments) -> tuple[str, ...]:
    assumed = f"no --node given: taken to run on {systems.DEFAULT_NODE}"
    return (*told, *([assumed] if arguments.get("node") is None else []))


def _of_import(profile: RunResult) -> list[str]:
    """What the import took for granted or left out, such as where an allocation ends."""
    return [f"import: {what} ({count:,})" for what, count in profile.totals.get("notes", {}).items()]


def _joined(found: Recording, profile: RunResult | None, system: System) -> Recording:
    """A recording, with the faults of an imported profile of the same process if there is one."""
    if profile is None:
        return found
    if not is_imported(profile.folder):
        raise AdviceError(f"--faults: expected the folder of an imported profile, found a run in {profile.folder}")
    return joined.with_faults(found, profile, profiles.buffers(profile, system))


def _kept(advice: Advice, path: Path, order: Order, output: Path | None) -> Advice:
    """The same, in its folder if it is to have one."""
    if output is not None:
        key = order.key(f"profile {path.resolve()}", advice.constants)
        with experiment_folder(output, key, force=order.force):
            saved.save(output, advice)
    return advice
