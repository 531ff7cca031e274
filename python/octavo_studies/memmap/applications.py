"""The applications of the study as whole programs, by the study's names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Application:
    """A program of the study, and what it is here."""

    workload: str
    pattern: str
    """The study's design pattern."""
    scale: float
    """Of the workload, at scale 1 of the study; chosen such that footprints are 30 to 100 MB. Graphs have
    sizes of their own."""
    differs: str = ""
    """How our program differs from the study's."""
    on_graphs: bool = False
    """Whether its input is a graph: results are averages over several."""


APPLICATIONS = {
    "AES": Application("aes", "C2G", 1.0),
    "FIR": Application("fir", "C2GI", 1 / 2, "one launch"),
    "HIST": Application("histo", "C2G", 4.0),
    "BS": Application("blk", "WP", 1.0, "the GPU's part alone (C2G)"),
    "KNN": Application("nearestneighbor", "WP", 1.0, "distances on the GPU, the nearest on the CPU (C2G)"),
    "KM": Application("kmeans", "C&GI", 1.0),
    "BE": Application("background", "CPGC", 1.0, "host and GPU in turns"),
    "GA": Application("alignment", "GPCC", 1.0, "host and GPU in turns"),
    "BST": Application("bst", "CGP", 1.0, "host and GPU in turns"),
    "EP": Application("evolution", "CGP", 1.0, "host and GPU in turns"),
    "PR": Application("pagerank", "C2GI", 1.0, on_graphs=True),
    "BFS": Application("bfs-balanced", "C&GI", 1.0, "all levels on the GPU", on_graphs=True),
    "SSSP": Application("sssp", "C&GI", 1.0, "all rounds on the GPU", on_graphs=True),
    "MST": Application("mst", "C&GI", 1.0, "all rounds on the GPU", on_graphs=True),
}
"""All fourteen of the publication."""
