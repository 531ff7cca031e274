"""The programs of UVMSmart's publications that Octavo has, at its sizes, and its policies in Octavo's words."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Program:
    """A workload and its options."""

    name: str
    workload: str
    options: dict[str, object] = field(default_factory=dict)
    waits: tuple[int, ...] = ()
    """Launches before which the host waits for the GPU by `cudaDeviceSynchronize`, which sends written pages home."""


PROGRAMS = (
    Program("hotspot", "hs", {"side": 1024, "steps": 8}),
    Program("nw", "nw", {"length": 1024}),
    Program("pathfinder", "pathfinder", {"columns": 50000, "rows": 200, "pyramid": 10}),
    Program("triad", "vectoradd", {"elements": 2**20}),
    Program("backprop", "bp", {"inputs": 131056}, waits=(1,)),
    Program("bfs", "bfs-rodinia", {"nodes": 2**18}),
    Program("sssp", "dijkstra", {"vertices": 2**20}),
    Program("ra", "random-access", {"words": 2**20}),
    Program("2dconv", "simpleconvolution", {"width": 1022, "height": 1022}),
    Program("atax", "atax", {"rows": 1200, "columns": 1200}),
    Program("fdtd2d", "fdtd2d", {"rows": 1200, "columns": 1200, "steps": 5}),
    Program("srad", "srad", {"rows": 1024, "columns": 1024, "iterations": 4}, waits=(2, 4, 6)),
)
"""Sizes as in `benchmarks/benchmark_workingset.txt` and `benchmarks/Managed/*/run` of
DebashisGanguly/gpgpu-sim_UVMSmart. Triad is a sum of two vectors (StreamTriad has the same three streams). The graphs
of bfs and sssp and the random numbers of ra come from Octavo's generators. 2dconv is a convolution of 1024 x 1024
pixels by work-groups of 64, with its mask in memory. In UVMSmart, work-groups are of 32 x 8, and the mask's nine values
are constants. srad has its six arrays in managed memory; in UVMSmart, only one of them is."""


@dataclass(frozen=True)
class Policy:
    """A prefetcher and an evictor; if there are any, another prefetcher for full memory and a reserve of free pages."""

    prefetch: str
    eviction: str
    when_full: str | None = None
    reserve: int = 0
    """Percent of the memory that is kept free."""

    @property
    def name(self) -> str:
        """The name in tables."""
        full = f", then {self.when_full}" if self.when_full else ""
        free = f", {self.reserve}% free" if self.reserve else ""
        return f"{self.prefetch}{full} / {self.eviction}{free}"


POLICIES = (
    Policy("none", "lru-page"),
    Policy("sequential-local", "sequential-local"),
    Policy("tree-neighborhood", "tree-neighborhood"),
    Policy("sequential-local", "tree-neighborhood"),
    Policy("tree-neighborhood", "sequential-local"),
    Policy("tree-neighborhood", "lru-block"),
    Policy("tree-neighborhood", "lfu-block"),
    Policy("tree-neighborhood", "lru-page", "none"),
    Policy("tree-neighborhood", "tree-neighborhood", reserve=10),
)
"""Pairs of `-hardware_prefetch` and `-eviction_policy`, one with `-hwprefetch_oversub 0` and one with
`-percentage_of_free_page_buffer 10`."""

OVERSUBSCRIPTIONS = (110, 125, 150)
"""Footprint in percent of the memory: the publications' sizes."""

PAGE = 4096
"""Bytes of a page (`-page_size 4KB`)."""
NODE = "cuda-sm60"
"""Without time, only the number of work-groups in flight changes counts, so the rest of the node does not matter."""
UNITS = 28
"""Streaming multiprocessors (`-gpgpu_n_clusters 28` in `configs/GeForceGTX1080Ti/gpgpusim.config`)."""


def octavo_memory(program: Program, policy: Policy, reserve: int) -> list[str]:
    """The overrides of a scenario for UVMSmart's memory system: padded allocations, and written pages go home.

    So many pages are kept free.
    """
    home = ['memory.synchronisation="dirty-home"'] if program.waits else []
    free = [f'memory.demotion={{name = "reserve", free = "{reserve * PAGE}B"}}'] if reserve else []
    return [*_octavo_policy(policy), 'memory.padding="trees"', 'memory.prefetch_plan="at-once"', *home, *free]


def _octavo_policy(policy: Policy) -> list[str]:
    """A policy: victims are ordered by accesses, and units leave whole."""
    eviction: dict[str, object] = {"name": policy.eviction, "whole": True, "recency": "access"}
    if policy.eviction == "lru-page":
        del eviction["whole"]
    if policy.eviction == "lfu-block":
        del eviction["recency"]
    prefetch: dict[str, object] = {"name": policy.prefetch}
    if policy.when_full is not None:
        prefetch = {"name": "when-full", "before": policy.prefetch, "after": policy.when_full}
    return [f"memory.prefetch={_table(prefetch)}", f"memory.eviction={_table(eviction)}"]


def _table(values: dict[str, object]) -> str:
    text = {True: "true", False: "false"}
    words = (f"{key} = {text[value] if isinstance(value, bool) else _quoted(value)}" for key, value in values.items())
    return "{" + ", ".join(words) + "}"


def _quoted(value: object) -> str:
    return f'"{value}"'
