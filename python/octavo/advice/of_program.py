"""Advice on a program that can be simulated."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from octavo import api
from octavo.advice import by_phase, exhaustive, programs, saved, systems, told, verify
from octavo.advice.answer import Advice
from octavo.errors import AdviceError
from octavo.runs.comparison import experiment_folder
from octavo.runs.execute import Point, execute
from octavo.runs.held import holds_result
from octavo.runs.progress import told as telling
from octavo.runs.result import RunResult
from octavo.scenarios.scenario import Scenario, is_scenario_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from octavo.advice.by_phase import ByPhase
    from octavo.advice.exhaustive import Exhausted
    from octavo.advice.order import Order
    from octavo.advice.plan import Plan
    from octavo.advice.systems import SystemConstants
    from octavo.advice.verify import Found
    from octavo.arguments import Arguments
    from octavo.runs.execute import Progress

    Watch = Callable[[Progress], None] | None

_RUNS = "runs"


def advice(
    source: str | Path | Scenario | None,
    arguments: Arguments,
    order: Order,
    output: Path | None,
    watch: Callable[[Progress], None] | bool | None,
) -> Advice:
    """Advice on a workload, a trace, a scenario or a run.

    Raises:
        AdviceError: there is no answer, or a run has a node of its own.
        OctavoError: the source cannot be used or simulated, or the folder cannot be written.

    """
    named = isinstance(source, (str, Path)) and holds_result(Path(source))
    run = RunResult.load(Path(str(source))) if named else None
    if arguments.get("node") is not None and (run is not None or isinstance(source, Scenario)):
        raise AdviceError(
            f"expected no other node for {source if run is not None else 'a scenario'}, which has one of its own",
            "leave out --node, or advise on the workload by name",
        )
    scenario, constants = _scenario(run.scenario if run is not None else source, arguments)
    programs.check(scenario)
    root, keep = api.folder_of(output)
    with telling(watch) as tell, experiment_folder(root, order.key(scenario.toml, constants), force=order.force):
        found = _on_program(scenario, constants, run, order, root, tell)
        if output is not None:
            saved.save(root, found)
    keep(found)
    return found


def _scenario(source: str | Path | Scenario | None, arguments: Arguments) -> tuple[Scenario, SystemConstants]:
    """What is advised on, and the machine that it runs on."""
    node = arguments.get("node")
    measured = systems.measured_of(node) if node is not None else None
    if source is None or (isinstance(source, (str, Path)) and not is_scenario_file(source)):
        arguments["node"] = node = node or systems.DEFAULT_NODE
    scenario = api.scenario(source, **arguments)
    name = str(node) if node is not None else "the scenario's node"
    return scenario, systems.from_scenario(scenario, name=name, measured=measured)


def _on_program(
    scenario: Scenario, constants: SystemConstants, run: RunResult | None, order: Order, root: Path, watch: Watch
) -> Advice:
    buffers = programs.buffers(scenario, constants.system)
    managed = run if run is not None and run.scenario == scenario and told.tells(run) else None
    notes: tuple[str, ...] = ("nothing was run: faults, their concurrency and re-migration are estimates",)
    if not order.quick:
        buffers, notes = told.by_runs(buffers, scenario, constants, managed, order, root, watch), ()
    found = order.plan(buffers, constants)
    exhausted = _exhausted(scenario, found, order, root, watch) if order.exhaustive else None
    verified = _verified(scenario, found, order, root, watch) if order.verify or order.exhaustive else None
    phases, seconds = None, None
    if order.by_phase:
        tells = managed or RunResult.load(root / told.MANAGED)
        phases = by_phase.plan(tells, found, constants.system, order.placements)
        notes = (*notes, "prefetches to the host are not simulated")
        seconds = _with_phases(scenario, phases, order, root, watch) if order.verify else None
    return Advice(scenario.label, found, constants, verified, exhausted, phases, seconds, notes)


def _exhausted(scenario: Scenario, found: Plan, order: Order, root: Path, watch: Watch) -> Exhausted:
    """Every placement."""
    return exhaustive.run(
        scenario,
        found,
        order.placements,
        root / _RUNS,
        workers=order.workers,
        force=order.force,
        watch=watch,
        on=order.on,
        symmetry=order.symmetry,
        bounded=order.bounds,
    )


def _verified(scenario: Scenario, found: Plan, order: Order, root: Path, watch: Watch) -> Found:
    """The present and the advised placement."""
    both = [found.present, found.placements]
    anew = order.force and not order.exhaustive
    times = verify.seconds(scenario, both, root / _RUNS, workers=order.workers, force=anew, watch=watch)
    return verify.Found(*times)


def _with_phases(scenario: Scenario, phases: ByPhase, order: Order, root: Path, watch: Watch) -> float:
    """Seconds with the prefetches of a placement by phase."""
    changed = Point(f"{scenario.label} by phase", by_phase.simulated(scenario, phases), root / "by-phase")
    (run,) = execute([changed], workers=order.workers, force=order.force, watch=watch)
    return run.seconds
