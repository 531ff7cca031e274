"""Who harvests and who yields: the published cases, as far as their programs are there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Job:
    """A program on GPUs of its own."""

    name: str
    workload: dict[str, Any]
    gpus: tuple[int, ...]

    def table(self, until: str | None) -> dict[str, Any]:
        """The job as a scenario has it; one that yields begins again until the harvester is done."""
        table = {"name": self.name, "workload": self.workload, "gpus": list(self.gpus), "program": {"kind": "managed"}}
        return table | ({"until": until} if until else {"repetitions": 1})


@dataclass(frozen=True)
class Case:
    """Jobs that need more memory than their GPUs have, and jobs beside them that need less."""

    harvesting: tuple[Job, ...]
    yielding: tuple[Job, ...]
    idle: str
    """Programs of the published case that are not in it yet: their GPUs are idle here."""

    @property
    def jobs(self) -> list[dict[str, Any]]:
        """The jobs as a scenario has them."""
        until = self.harvesting[0].name
        return [
            *(job.table(None) for job in self.harvesting),
            *(job.table(until) for job in self.yielding),
        ]


def _graph(name: str, graph: str, *gpus: int, label: str | None = None) -> Job:
    return Job(label or name, {"name": name, "graph": graph}, gpus)


CASES = {
    "1": Case(
        (_graph("pagerank", "soc-twitter-2010", 0),),
        (_graph("wcc", "soc-sinaweibo", 1),),
        "VGG16 on GPUs 2 and 3",
    ),
    "2": Case(
        (_graph("bfs-balanced", "web-uk-2005", 0, 1, label="bfs"),),
        (),
        "MobileNetV3-large on GPU 2, ResNet101 on GPU 3",
    ),
    "3": Case(
        (_graph("wcc", "soc-twitter-2010", 0), _graph("bfs-balanced", "soc-twitter-2010", 1, label="bfs")),
        (_graph("pagerank", "web-ClueWeb09-50m", 2, 3),),
        "",
    ),
    "4": Case(
        (_graph("wcc", "soc-twitter-2010", 0), _graph("louvain", "web-uk-2005", 1, 2)),
        (),
        "ResNet101 on GPU 3",
    ),
}
"""The inter-job cases of the publication, by its numbers."""
