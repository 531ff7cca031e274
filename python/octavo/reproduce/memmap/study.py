"""Every placement of each application, the model's placements, and managed memory with and without advice."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

from octavo import api
from octavo.advice import ask, plan, programs, systems, verify
from octavo.errors import ScenarioError
from octavo.files.links import inside
from octavo.plain import one_of
from octavo.reproduce.memmap import found, kernels, tables
from octavo.reproduce.memmap.applications import APPLICATIONS
from octavo.reproduce.memmap.systems import ADVISED, PLACEMENTS, hints
from octavo.runs.comparison import SAVED, experiment_folder
from octavo.runs.execute import Point, execute
from octavo.runs.experiment import RUNS, slug
from octavo.runs.result import RunResult
from octavo.scenarios import lost
from octavo.scenarios.scenario import Recipe, Scenario, digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from octavo.reproduce.memmap.found import Found
    from octavo.reproduce.memmap.tables import Case
    from octavo.runs.execute import Progress

NODE = "power8-p100"
GRAPHS = 20
"""Drawn graphs of each graph program, as published."""
PAGE = "4KiB"
"""The size for which the publication counts faults; Linux has pages of 64 KiB on POWER8."""
REDUCED_SCALE = 1 / 16
REDUCED_GRAPHS = 2


_OWN = {
    "workload.name": "--application",
    "workload.scale": "--scale",
    "workload.seed": "--graphs",
    "seed": "--graphs",
    "program": "",
    "executor": "",
    "memory.preset": "",
    "node.preset": "--node",
    "node.gpus": "",
    "node.links": "",
}
"""Keys that the study sets, and the option that changes them."""


@dataclass(frozen=True)
class Study:
    """How the study is run."""

    output: Path | None = None
    """Folder of the results; one below `runs/` if left out."""
    overrides: tuple[str, ...] = ()
    """Changes to every scenario (`key=value`): seed and what `--set` says."""
    applications: tuple[str, ...] = tuple(APPLICATIONS)
    node: str = NODE
    scale: float = 1.0
    """Over the applications' own scales."""
    graphs: int = GRAPHS
    """Of each graph program, with the seeds 0, 1, …"""
    workers: int | None = None
    force: bool = False
    watch: Callable[[Progress], None] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Refuse what the study does not have.

        Raises:
            ScenarioError: an unknown application, or a change of what the study sets itself.

        """
        unknown = [name for name in self.applications if name not in APPLICATIONS]
        if unknown:
            raise ScenarioError(f"application `{unknown[0]}`: expected {one_of(unknown[0], list(APPLICATIONS))}")
        lost.refuse(self.overrides, _OWN)

    def scenarios(self) -> dict[tuple[str, int], Scenario]:
        """Every application on every graph, all of it managed.

        Raises:
            ScenarioError: something cannot be used.

        """
        return {
            (name, seed): self._scenario(name, seed)
            for name in self.applications
            for seed in range(self.graphs if APPLICATIONS[name].on_graphs else 1)
        }

    def _scenario(self, name: str, seed: int) -> Scenario:
        application = APPLICATIONS[name]
        program = (f"workload.name={application.workload}", f"workload.scale={application.scale * self.scale}")
        quiet = (f"workload.seed={seed}", "program.kind=managed", "record.events=false", "record.interval=0ns")
        # The release whose mechanisms the tables of docs/reproduce-memmap.md were made with.
        release = "node.driver.release=595.45"
        memory = ("memory.preset=stock-driver", f"memory.page_size={PAGE}", release)
        named = (f"node.preset={self.node}", *memory, *program, *quiet)
        recipe = Recipe("", "arguments", (*named, *self.overrides))
        links = recipe.resolve().values["node"].get("links")
        return recipe.with_overrides(("node.gpus=1", *(("node.links=[]",) if links else ()))).resolve()


def reproduce(study: Study) -> Found:
    """Run what is not finished yet.

    Raises:
        ScenarioError: something cannot be used.
        AdviceError: a program cannot be advised on.
        OutputError: a folder cannot be written, or holds something else.
        SimulationError: a scenario cannot be simulated; what is finished is kept.
        InterruptedRun: Ctrl-C; what is finished is kept.

    """
    scenarios = study.scenarios()
    key = digest(scenarios.values())
    root = study.output or Path("runs") / f"memmap-{key}"
    with experiment_folder(root, key, force=study.force, draws=True, writes=(*SAVED, *found.FILES)):
        cases = [_case(study, root, name, seed, scenario) for (name, seed), scenario in scenarios.items()]
        roofline = kernels.run(
            next(iter(scenarios.values())), root, workers=study.workers, force=study.force, watch=study.watch
        )
        what = found.Found(root, *tables.of(cases), roofline, tables.costs(cases))
        found.save(what, key)
    return what


def _case(study: Study, root: Path, name: str, seed: int, scenario: Scenario) -> Case:
    """One application on one graph: all placements, and managed memory with advice."""
    folder = inside(root, RUNS, f"{slug(name)}-{seed}")
    advice = ask.advise(
        scenario,
        placements=PLACEMENTS,
        exhaustive=True,
        output=folder,
        workers=study.workers,
        force=study.force,
        watch=study.watch,
    )
    constants = systems.from_scenario(scenario)
    begun = process_time()
    estimated = programs.buffers(scenario, constants.system)
    counted = process_time()
    plan.plan(estimated, constants, placements=PLACEMENTS)
    cost = (counted - begun, process_time() - counted)
    stored = {each["name"] for each in api.inspect_workload(scenario)["buffers"] if each["stores"]}
    managed = verify.placed(scenario, {each.name: "managed" for each in estimated})
    hinted = Recipe(managed.toml, "scenario", tuple(hints(estimated, stored))).resolve()
    point = Point(f"{name} {ADVISED}", hinted, inside(root, RUNS, f"{slug(name)}-{seed}-{ADVISED}"))
    (run,) = execute([point], workers=study.workers, force=study.force, watch=study.watch)
    return tables.Case(name, seed, advice, estimated, run.seconds, RunResult.load(folder / "managed"), cost)
