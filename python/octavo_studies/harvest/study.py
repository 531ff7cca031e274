"""Each case under the stock driver and under harvesting: how fast each job is, and where its pages came from."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from octavo import api
from octavo.errors import ScenarioError
from octavo.explain import explain, serving
from octavo.quantities import bytes_of
from octavo.runs import lending, pictures
from octavo.runs.slugs import slug
from octavo.scenarios import conflicts
from octavo.scenarios.scenario import Recipe
from octavo_studies import engine
from octavo_studies.engine import Found, compared, series
from octavo_studies.harvest import systems
from octavo_studies.harvest.cases import CASES, INTER_JOB, Case, Job
from octavo_studies.publications import published

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from octavo.explain import Explanation
    from octavo.runs.experiment import Variant
    from octavo.runs.result import RunResult
    from octavo.scenarios.scenario import Scenario

NODE = "dgx-v100-4"
"""The node of the publication."""
CHUNK = 2 << 20
"""Bytes of what the driver evicts at once."""
RESERVE_OF_MEMORY = 100 / (16 << 10)
"""The published reserve, 100 MiB of a GPU's 16 GiB: memory is scaled, and the reserve with it."""
PREFETCH_OF_MEMORY = 32 / (16 << 10)
"""The published prefetch, 32 MiB on GPUs of 16 GiB, scaled as well."""
FILLED = 0.6
"""Part of its GPUs' memory that a job fills that yields (chosen; published: spare memory from 5 to 60 %)."""
PROBED_SCALE = 0.01
"""Largest scale at which bytes of a graph program are counted, of which there are proportionally more at others."""
CHUNKS = 64
"""Chunks of a GPU with `--reduced`; a reserve and a prefetch of one are then a small part of it (chosen)."""

REDUCED_CASES = ("1", "2", "3", "resnet50", "gnmt16")
LONG = ("1", "3", "4")
"""Cases that take minutes for each system on GPUs of 64 chunks."""
REDUCED_ROUNDS = 3
"""Rounds of PageRank where it harvests with `--reduced`, for time; it ends after ten. The first brings all of the graph
from the host under every system, so that fewer rounds gain less."""
EXPLAINED = (systems.STOCK, systems.WHOLE)
"""Systems of which the report says what bounds them."""

Key = tuple[str, str]
"""A case and the label of a system."""


@dataclass(frozen=True)
class Study(engine.Study):
    """Cases of jobs that lack memory beside jobs that do not."""

    name: ClassVar[str] = "harvest"

    cases: tuple[str, ...] = tuple(INTER_JOB)
    node: str = NODE
    need: float = 1.5
    """Bytes of a harvesting job on each of its GPUs over a GPU's memory. The publication's programs need more bytes for
    the same graph than ours, so that memory is chosen and not the published 16 GB."""
    filled: float = FILLED
    """Part of its GPUs' memory that a job fills that yields."""

    chunks: int | None = None
    """Chunks of 2 MiB that a GPU has; graphs then have the scale that needs `need` times as much. If left out, memory
    follows from the scale."""

    rounds: int | None = None
    """Most rounds of PageRank where it harvests; until it converges, if left out."""

    few: bool = False
    """Only the systems that remarks are judged by, in `LONG` cases only three."""

    shared: bool = False
    """Whether the GPUs of a graph program share its arrays in managed memory, instead of a process for each."""

    links: str = "board"
    """How the GPUs of the publication's node are linked, a key of `octavo_studies.harvest.systems.LINKS`."""

    def __post_init__(self) -> None:
        """Refuse what the study sets itself.

        Raises:
            ScenarioError: a change of the memory of GPUs or of what the systems choose, a node that has too few GPUs,
                or one whose links are its own.

        """
        conflicts.refuse(self.overrides, {"node.capacity": "--need", **dict.fromkeys(systems.CHOSEN, "")})
        if self.links != "board" and self.node != NODE:
            raise ScenarioError(
                f"--links {self.links}: expected --node {NODE}, found {self.node}",
                code="unexpected-value",
                key="node",
                expected=NODE,
                found=self.node,
            )
        found = api.scenario(workload="fir", node=self.node).values["node"]["gpus"]
        for name in self.cases:
            needed = CASES[name].gpus
            if needed > found:
                raise ScenarioError(
                    f"--node {self.node}: expected {needed} GPUs for case {name}, found {found}",
                    code="unexpected-value",
                    key="node",
                    expected=needed,
                    found=found,
                )

    def scenarios(self) -> dict[Key, Scenario]:
        """Every case under every system.

        Raises:
            ScenarioError: something cannot be used.

        """
        return {
            (name, system.label): recipe.with_overrides([*system.overrides, _recorded(system)]).resolve()
            for name in self.cases
            for recipe, memory in [self.case(CASES[name])]
            for system in self.ladder(memory)
            if not self.few or system.label in (systems.FEWEST if name in LONG else systems.JUDGED)
        }

    def case(self, case: Case) -> tuple[Recipe, int]:
        """A case on a node whose GPUs have too little memory for the harvesting jobs, and that memory in bytes.

        Jobs on one graph have one scale; the largest job of each graph needs as much.
        """
        case, need = self._shortened(case), case.need or self.need
        units = {job.name: self._bytes(job) for job in (*case.harvesting, *case.yielding)}
        largest: dict[str, float] = {}
        for job in case.harvesting:
            largest[job.input] = max(largest.get(job.input, 0.0), units[job.name])
        needed = need * self.chunks * CHUNK if self.chunks else max(largest.values()) * self._scale
        memory = max(2, round(needed / need / CHUNK)) * CHUNK
        sizes = {job.name: needed * units[job.name] / largest[job.input] for job in case.harvesting}
        sizes |= {job.name: self._beside(job, needed, memory) for job in case.yielding}
        jobs = {job.name: job for job in (*case.harvesting, *case.yielding)}
        scales = {name: size / self._bytes(jobs[name], size / units[name]) for name, size in sizes.items()}
        capacity = ("node.capacity.footprint_percent=0", f"node.capacity.bytes={memory}B")
        published = (systems.BATCH, *systems.LINKS[self.links]) if self.node == NODE else ()
        changes = [change for change in self.overrides if change not in self._said]
        settings = (systems.DRIVER, *published, *capacity, *changes)
        return Recipe.from_jobs(case.jobs(scales, shared=self.shared), node=self.node).with_overrides(settings), memory

    def _shortened(self, case: Case) -> Case:
        if self.rounds is None:
            return case
        fewer = {"pagerank": {"rounds": self.rounds}}
        jobs = (replace(job, workload=job.workload | fewer.get(job.name, {})) for job in case.harvesting)
        return replace(case, harvesting=tuple(jobs))

    def _beside(self, job: Job, needed: float, memory: int) -> float:
        """Bytes of a job that yields on each of its GPUs."""
        return self.filled * memory if job.beside is None else job.beside * needed

    @property
    def _said(self) -> list[str]:
        """What says the scale; every job has one of its own."""
        return [change for change in self.overrides if change.startswith("workload.scale=")]

    @cached_property
    def _scale(self) -> float:
        """The scale of the graphs, as it is said for every scenario."""
        return float(api.scenario(workload="fir", overrides=self._said).values["workload"]["scale"])

    def _bytes(self, job: Job, scale: float | None = None) -> float:
        """Bytes of a job on each of its GPUs over its scale, near this one; graphs are not drawn at full size."""
        near = (self._scale if scale is None else scale) / len(job.processes(shared=self.shared))
        probed = min(near, PROBED_SCALE) if "graph" in job.workload else 1.0
        return _footprint(job, (*self.overrides, f"workload.scale={probed}")) / probed / len(job.gpus)

    def ladder(self, memory: int) -> list[Variant]:
        """Every system, where a GPU has this many bytes."""
        return systems.ladder(self.reserve(memory), _chunks(memory, PREFETCH_OF_MEMORY))

    def reserve(self, memory: int) -> int:
        """Bytes of a GPU's memory that are kept free."""
        return _chunks(memory, RESERVE_OF_MEMORY) * CHUNK


def reproduce(study: Study) -> Found:
    """Run what is not finished yet.

    The report has tables:

    - `jobs`, one row for each case, system and job: `case`, `system`, `job`, `role`, `time_ps`, `speedup` over the
      stock driver, `faults`;
    - `pages`, one row for each case and system: pages that left for the host and for neighbours, and pages that
      neighbours gave up for their own or gave back. Also pages that `multi-path` brought as `local-path` does, plans
      that brought or staged a block before anyone asked for it, and the sources of all that came to GPUs;
    - `lenders` and `sources` of the run with all techniques: who lends to whom, and where pages came from
      (`octavo.runs.lending`);
    - `bounds`: what the stock driver and all techniques spend their time with (`octavo.explain`), by `case`, `system`;
    - `sizes_of_gpus`: `chunks` of a GPU by `case`, and its percent that are kept free and prefetched at once;
    - `served`, of cases that serve requests, by `system`: tokens a second, and what users wait
      (`octavo.explain.serving`).

    Raises:
        ScenarioError: something cannot be used.
        OutputError, SimulationError, InterruptedRun: as `carry_out`.

    """
    scenarios = study.scenarios()
    wanted = {
        (case, label): engine.Run(f"case {case} {label}", scenario, (f"case {case}", label))
        for (case, label), scenario in scenarios.items()
    }
    runs = study.carry_out(study.folder(scenarios.values()), wanted)
    results, jobs = runs.results, _jobs(runs.results, shared=study.shared)
    document = {
        "compared": _compared(jobs),
        "jobs": jobs,
        "pages": _pages(results),
        "lenders": _lending(results, lending.totals),
        "sources": _lending(results, lending.sources),
        "bounds": _bounds(results),
        "sizes_of_gpus": _sizes(study, results),
        "served": _served(results),
    }
    return runs.found("Memory harvesting", jobs, document, lambda found: _draw(found, results))


def _compared(jobs: pl.DataFrame) -> list[dict[str, Any]]:
    """The largest speed-up of a harvesting job and the largest loss of a yielding one, beside what is published."""
    harvest, largest = jobs.filter(role="harvests")["speedup"].max(), published("harvest")["largest_speedup"]
    rows = [compared("largest speed-up of a harvesting job", harvest, largest)]
    slowest = jobs.filter(role="yields")["speedup"].min()
    return rows if slowest is None else [*rows, compared("slowest yielding job", slowest, None)]


def _recorded(system: Variant) -> str:
    """Single events, which say who lends to whom, are recorded of one system: they take room."""
    return f"record.events={'true' if system.label == systems.WHOLE else 'false'}"


def _chunks(memory: int, share: float) -> int:
    return max(1, round(memory * share / CHUNK))


def _footprint(job: Job, overrides: tuple[str, ...]) -> int:
    """Bytes of the buffers of a job."""
    scale = [one for one in overrides if one.startswith(("workload.scale=", "workload.seed="))]
    program = [f"workload.{key}={json.dumps(value)}" for key, value in job.workload.items() if key != "name"]
    node = f"node.gpus={len(job.gpus)}"
    scenario = api.scenario(workload=job.workload["name"], overrides=[node, *program, *scale])
    return sum(buffer["bytes"] for buffer in api.workload_program(scenario, "managed")["buffers"])


def jobs_of(case: Case, result: RunResult, *, shared: bool) -> list[dict[str, Any]]:
    """Each job of a run: `job`, `role`, `time_ps` of its slowest process, `faults` of all."""
    roles = case.roles(shared=shared)
    found: dict[str, dict[str, Any]] = {}
    for process in result.summary["jobs"]:
        name, role = roles[process["name"]]
        row = found.setdefault(name, {"job": name, "role": role, "time_ps": 0, "faults": 0})
        row["time_ps"] = max(row["time_ps"], process["time_ps"])
        row["faults"] += process["faults"]
    return list(found.values())


def _jobs(results: dict[Key, RunResult], *, shared: bool) -> pl.DataFrame:
    rows = [
        {"case": case, "system": label, **job}
        for (case, label), result in results.items()
        for job in jobs_of(CASES[case], result, shared=shared)
    ]
    stock = pl.col("time_ps").filter(pl.col("system") == systems.STOCK).first().over("case", "job")
    return pl.DataFrame(rows).with_columns((stock / pl.col("time_ps")).alias("speedup"))


def _bounds(results: dict[Key, RunResult]) -> pl.DataFrame:
    rows = [
        {"case": case, "system": label, "bound": " ".join(_bound(explain(result)))}
        for (case, label), result in results.items()
        if label in EXPLAINED
    ]
    return pl.DataFrame(rows)


def _bound(found: Explanation) -> Iterator[str]:
    """What accesses, faults and links spend their time with."""
    first, *others = found.sentences
    yield first
    yield from (one for one in others if one.startswith(("Half of the faults wait", "No link bounds it", "Faults by")))


def _sizes(study: Study, results: dict[Key, RunResult]) -> pl.DataFrame:
    rows = []
    for case in dict.fromkeys(case for case, _ in results):
        memory = bytes_of(results[case, systems.STOCK].scenario.values["node"]["capacity"]["bytes"])
        ahead = _chunks(memory, PREFETCH_OF_MEMORY) * CHUNK
        shares = {"reserve_percent": study.reserve(memory), "prefetch_percent": ahead}
        rows.append({"case": case, "chunks": memory // CHUNK} | {key: 100 * of / memory for key, of in shares.items()})
    return pl.DataFrame(rows)


_PAGES = {
    "evictions_written": "to_host",
    "evictions_to_spare": "to_neighbours",
    "written_back": "written_back",
    "yielded": "yielded",
    "fetched_from_spare": "from_neighbours",
    "prefetched": "prefetched",
    "prefetch_plans": "plans_ahead",
    "staged": "staged",
    "fell_back": "fell_back",
}
"""Counts of the manager, and what the table calls them."""


def _pages(results: dict[Key, RunResult]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"case": case, "system": label}
            | {name: int(result.totals["manager"].get(count, 0)) for count, name in _PAGES.items()}
            | {"from_host": _from_host(result.summary["manager"])}
            for (case, label), result in results.items()
        ]
    )


def _from_host(manager: Mapping[str, Any]) -> int:
    """Pages that came to GPUs from the host, untouched ones included."""
    return int(manager["migrations"] + manager["prefetched"] - manager.get("fetched_from_spare", 0))


def _lending(results: dict[Key, RunResult], table: Callable[[RunResult], pl.DataFrame]) -> pl.DataFrame:
    found = [
        table(result).select(pl.lit(case).alias("case"), pl.all())
        for (case, label), result in results.items()
        if label == systems.WHOLE
    ]
    return pl.concat(found) if found else pl.DataFrame()


def _served(results: dict[Key, RunResult]) -> pl.DataFrame:
    rows = []
    for (case, label), result in results.items():
        if serving.serves(result):
            found = serving.latencies(result)
            waits = {f"{name}_{key}": found[name][key] for name in ("first", "next") for key in ("p50_ms", "p99_ms")}
            scale = min(result.scenario.scales)
            rows.append({"case": case, "system": label, "scale": scale, "tokens_per_s": found["tokens_per_s"], **waits})
    return pl.DataFrame(rows)


def _draw(found: Found, results: dict[Key, RunResult]) -> None:
    root = found.root
    for case in found.jobs["case"].unique(maintain_order=True):
        rows = found.jobs.filter(case=case)
        named = rows.with_columns(pl.format("{} ({})", "job", "role").alias("job"))
        how = {"xlabel": "relative speed", "title": f"Case {case}: speed of each job over the stock driver"}
        series.bars(root / f"case-{case}.png", named, "job", "system", "speedup", line_at=1.0, **how)
        for label in ("H", systems.STOCK):
            path = root / f"case-{case}-memory-{slug(label)}.png"
            pictures.memory(path, results[case, label], title=f"Case {case}, {label}: memory in use")
        title = f"Case {case}, {systems.WHOLE}: memory lent"
        pictures.lent(root / f"case-{case}-lent.png", results[case, systems.WHOLE], title=title)
