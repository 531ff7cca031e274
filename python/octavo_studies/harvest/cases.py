"""The published cases, with harvesters and owners, as far as their programs are there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Job:
    """A program on GPUs of its own."""

    name: str
    workload: dict[str, Any]
    gpus: tuple[int, ...]
    beside: float | None = None
    """Bytes on each of its GPUs over the bytes of the largest harvesting job, if this ratio sets its size; if it yields
    and has none, it fills the study's part of their memory."""

    @property
    def input(self) -> str:
        """Its graph, or its name: jobs on one graph have one scale."""
        return str(self.workload.get("graph", self.name))

    def processes(self, *, shared: bool) -> list[Job]:
        """The job, or one for each of its GPUs, as cuGraph has it: each has a part of the graph in memory of its own.

        What GPUs then exchange, numbers of vertices by NCCL, is left out. Processes of networks are one job: their
        replicas share nothing but gradients.
        """
        if shared or "graph" not in self.workload or len(self.gpus) == 1:
            return [self]
        return [replace(self, name=f"{self.name}-{gpu}", gpus=(gpu,)) for gpu in self.gpus]

    def table(self, until: str | None, scale: float) -> dict[str, Any]:
        """The job as a scenario has it; one that yields begins again until the harvester is done."""
        workload = self.workload | {"scale": scale}
        table = {"name": self.name, "workload": workload, "gpus": list(self.gpus), "program": self._program()}
        return table | ({"until": until} if until else {"repetitions": 1})

    def _program(self) -> dict[str, Any]:
        """All memory is managed but what gradients are received in, which libraries have as device memory."""
        if not self.workload.get("all_reduce"):
            return {"kind": "managed"}
        received = {f"received-{replica}": {"kind": "device"} for replica in range(len(self.gpus))}
        return {"kind": "managed", "buffers": received}


@dataclass(frozen=True)
class Case:
    """Jobs that need more memory than their GPUs have, and jobs beside them that need less."""

    harvesting: tuple[Job, ...]
    yielding: tuple[Job, ...] = ()
    need: float | None = None
    """Bytes of a harvesting job on each of its GPUs over a GPU's memory, where that is not the study's."""

    @property
    def gpus(self) -> int:
        """GPUs that a node must have."""
        return 1 + max(gpu for job in (*self.harvesting, *self.yielding) for gpu in job.gpus)

    def jobs(self, scales: Mapping[str, float], *, shared: bool) -> list[dict[str, Any]]:
        """The jobs as a scenario has them, each with its scale, which its processes divide among them."""
        first = self.harvesting[0].processes(shared=shared)[0].name
        tables = []
        for job in (*self.harvesting, *self.yielding):
            processes = job.processes(shared=shared)
            until = None if job in self.harvesting else first
            tables += [one.table(until, float(f"{scales[job.name] / len(processes):.6g}")) for one in processes]
        return tables

    def roles(self, *, shared: bool) -> dict[str, tuple[str, str]]:
        """The job that each process belongs to, and whether that job harvests or yields."""
        sides = {"harvests": self.harvesting, "yields": self.yielding}
        return {
            process.name: (job.name, role)
            for role, jobs in sides.items()
            for job in jobs
            for process in job.processes(shared=shared)
        }


def _graph(name: str, graph: str, *gpus: int, label: str | None = None) -> Job:
    return Job(label or name, {"name": name, "graph": graph}, gpus)


CLUEWEB = 446.8 / 2 / 530.1
"""Links of web-ClueWeb09-50m on each of two GPUs over arcs of soc-twitter-2010 on one, millions as published."""


STEPS = 16
"""Training steps of a network each time that it begins (chosen). Training keeps its memory from step to step; only
where it begins anew does the host write its parameters, and its GPUs take their memory back."""


def network(name: str, batch: int, *gpus: int, label: str | None = None) -> Job:
    """Data-parallel training with so many samples on each GPU, which sum their gradients."""
    workload = {"name": name, "batch": batch, "replicas": len(gpus), "iterations": STEPS}
    workload |= {"all_reduce": True} if len(gpus) > 1 else {}
    return Job(label or name, workload, gpus)


def _split(name: str, batch: int, cut: str | None = None) -> Case:
    """Training of a network that is split by layer over four GPUs, of which each needs another amount of memory.

    All together have a quarter more than the job needs (chosen).
    """
    workload = {"name": name, "batch": batch, "stages": 4} | ({"cut": cut} if cut else {})
    return Case((Job(name, workload, (0, 1, 2, 3)),), need=0.8)


INTER_JOB = {
    "1": Case(
        (_graph("pagerank", "soc-twitter-2010", 0),),
        (_graph("wcc", "soc-sinaweibo", 1), network("vgg16", 128, 2, 3)),
    ),
    "2": Case(
        (_graph("bfs-balanced", "web-uk-2005", 0, 1, label="bfs"),),
        (network("mobilenet_v3_large", 256, 2, label="mobilenet"), network("resnet101", 64, 3)),
    ),
    "3": Case(
        (_graph("wcc", "soc-twitter-2010", 0), _graph("bfs-balanced", "soc-twitter-2010", 1, label="bfs")),
        (
            Job(
                "pagerank",
                {"name": "pagerank", "graph": "web-ClueWeb09-50m", "tolerance": 0.01},
                (2, 3),
                beside=CLUEWEB,
            ),
        ),
    ),
    "4": Case(
        (_graph("wcc", "soc-twitter-2010", 0), _graph("louvain", "web-uk-2005", 1, 2)),
        (network("resnet101", 64, 3),),
    ),
}
"""The inter-job cases of the publication, by its numbers: some jobs harvest what others leave."""

INTRA_JOB = {"resnet50": _split("resnet50", 128), "gnmt16": _split("gnmt16", 128, "layers")}
"""Jobs whose GPUs harvest from one another. By as many layers each, the GPU of GNMT16 that makes words needs most."""

TODAY = {
    "llm": Case((Job("llm", {"name": "llm-decode"}, (0,)),), (network("resnet50", 128, 1),)),
    "moe": Case((Job("moe", {"name": "moe-decode", "load": 8}, (0,)),), (network("resnet50", 128, 1),)),
}
"""Programs that the publication does not have: models that serve requests beside one that is trained."""

CASES = INTER_JOB | INTRA_JOB | TODAY
