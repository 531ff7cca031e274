"""Every placement of each application, the model's placements, and managed memory with and without advice."""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time
from typing import TYPE_CHECKING, ClassVar

from octavo import api
from octavo.advice import pipeline, programs, proposal, systems, verification
from octavo.errors import ScenarioError
from octavo.files.links import inside
from octavo.plain import one_of
from octavo.runs import unsourced_values
from octavo.runs.comparison import experiment_folder
from octavo.runs.execute import Point, execute
from octavo.runs.experiment import RUNS
from octavo.runs.result import RunResult
from octavo.runs.slugs import slug
from octavo.scenarios import conflicts
from octavo.scenarios.scenario import Recipe, Scenario, digest
from octavo_studies import engine
from octavo_studies.memmap import findings, intervals, kernels, oversubscribed, tables
from octavo_studies.memmap.applications import APPLICATIONS
from octavo_studies.memmap.graphs import DRAWN, Read
from octavo_studies.memmap.systems import ADVISED, PLACEMENTS, hints

if TYPE_CHECKING:
    from pathlib import Path

    from octavo_studies.engine import Found
    from octavo_studies.memmap.graphs import Graph
    from octavo_studies.memmap.tables import Case

NODE = "power8-p100"
REDUCED_SCALE = 1 / 16
REDUCED_GRAPHS = 2


_OWN = {
    "workload.name": "--application",
    "workload.scale": "--scale",
    "workload.graph": "--graph",
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
class Study(engine.Study):
    """Applications, each on some inputs."""

    name: ClassVar[str] = "memmap"

    applications: tuple[str, ...] = tuple(APPLICATIONS)
    node: str = NODE
    scale: float = 1.0
    """Over the applications' own scales."""
    graphs: int = len(DRAWN)
    """Of each graph program, with the seeds 0, 1, …"""
    files: tuple[Path, ...] = ()
    """Graphs instead of those that are drawn."""

    def __post_init__(self) -> None:
        """Refuse what the study does not have.

        Raises:
            ScenarioError: an unknown application, or a change of what the study sets itself.

        """
        unknown = [name for name in self.applications if name not in APPLICATIONS]
        if unknown:
            raise ScenarioError(
                f"application `{unknown[0]}`: expected {one_of(unknown[0], list(APPLICATIONS))}",
                code="unknown-name",
                key="application",
                found=unknown[0],
            )
        if not self.files and not 1 <= self.graphs <= len(DRAWN):
            raise ScenarioError(
                f"graphs: expected 1 to {len(DRAWN)}, found {self.graphs}",
                "a graph of your own: --graph FILE",
                code="unexpected-value",
                key="graphs",
                found=self.graphs,
            )
        conflicts.refuse(self.overrides, _OWN)

    @property
    def inputs(self) -> tuple[Graph, ...]:
        """The graphs of each graph program, by their seeds."""
        return tuple(map(Read, self.files)) or DRAWN[: self.graphs]

    def scenarios(self) -> dict[tuple[str, int], Scenario]:
        """Every application on every graph, all of it managed.

        Raises:
            ScenarioError: something cannot be used.

        """
        return {
            (name, seed): self._scenario(name, seed)
            for name in self.applications
            for seed in range(len(self.inputs) if APPLICATIONS[name].on_graphs else 1)
        }

    def _scenario(self, name: str, seed: int) -> Scenario:
        application = APPLICATIONS[name]
        program = (f"workload.name={application.workload}", f"workload.scale={application.scale * self.scale}")
        graph = (f"workload.graph={self.inputs[seed].option(self.scale)}",) if application.on_graphs else ()
        quiet = (f"workload.seed={seed}", "program.kind=managed", "record.events=false", "record.interval=0ns")
        named = (f"node.preset={self.node}", *program, *graph, *quiet)
        recipe = Recipe("", "arguments", (*named, *self.overrides))
        links = recipe.resolve().values["node"].get("links")
        return recipe.with_overrides(("node.gpus=1", *(("node.links=[]",) if links else ()))).resolve()


def reproduce(study: Study) -> Found:
    """Run what is not finished yet; `octavo_studies.memmap.findings` says what the tables are.

    Raises:
        ScenarioError: something cannot be used.
        AdviceError: a program cannot be advised on.
        OutputError: a folder cannot be written, or holds something else.
        SimulationError: a scenario cannot be simulated; what is finished is kept.
        InterruptedRun: Ctrl-C; what is finished is kept.

    """
    scenarios = study.scenarios()
    key = digest(scenarios.values())
    root = study.folder(scenarios.values())
    with experiment_folder(root, key, force=study.force, draws=True, writes=findings.FILES):
        cases = [_case(study, root, name, seed, scenario) for (name, seed), scenario in scenarios.items()]
        roofline = kernels.run(study, next(iter(scenarios.values())), root)
        cramped = oversubscribed.run(study, scenarios, root)
        ran = [case.managed for case in cases]
        beside = {"oversubscribed": cramped, "roofline": roofline, "costs": tables.costs(cases)}
        what = findings.of(root, tables.of(cases, study.inputs), beside, ran)
        findings.save(what, key, unsourced_values.by_node(ran))
    return what


def _case(study: Study, root: Path, name: str, seed: int, scenario: Scenario) -> Case:
    """One application on one graph: all placements, and managed memory with advice."""
    folder = inside(root, RUNS, f"{slug(name)}-{seed}")
    advice = pipeline.advise(scenario, placements=PLACEMENTS, runs=0, exhaustive=True, output=folder, **study.how)
    constants = systems.from_scenario(scenario)
    begun = process_time()
    estimated = programs.buffers(scenario, constants.system)
    counted = process_time()
    proposal.plan(estimated, constants, placements=PLACEMENTS)
    cost = (counted - begun, process_time() - counted)
    stored = {each["name"] for each in api.inspect_workload(scenario)["buffers"] if each["stores"]}
    managed = verification.placed(scenario, {each.name: "managed" for each in estimated})
    hinted = Recipe(managed.toml, "scenario", tuple(hints(estimated, stored))).resolve()
    point = Point(f"{name} {ADVISED}", hinted, inside(root, RUNS, f"{slug(name)}-{seed}-{ADVISED}"))
    (run,) = execute([point], **study.how)
    spent = intervals.by_placement(folder / RUNS)
    return tables.Case(name, seed, advice, estimated, run.seconds, RunResult.load(folder / "managed"), cost, spent)
