"""The points: which samples run, with which parameters, on how many GPUs."""

from __future__ import annotations

import re
from typing import NamedTuple

SMALL, MEDIUM, LARGE = "small", "medium", "large"
SIZES = (SMALL, MEDIUM, LARGE)
# Of points that the command line names.
OWN = "own"

# Options by the number of GPUs.
UNIFIED = {1: [], 4: ["-unified-gpus", "1,2,3,4"]}

# Benchmark to its inputs with their size classes, in the order of the tables.
SAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "aes": (
        (SMALL, "-length 16384"),
        (MEDIUM, "-length 65536"),
        (LARGE, "-length 262144"),
    ),
    "atax": (
        (SMALL, "-x 128 -y 128"),
        (SMALL, "-x 256 -y 256"),
        (MEDIUM, "-x 512 -y 512"),
    ),
    "bfs": (
        (SMALL, "-node 1024 -degree 3"),
        (MEDIUM, "-node 4096 -degree 3"),
        (LARGE, "-node 16384 -degree 8"),
    ),
    "bicg": (
        (SMALL, "-x 128 -y 128"),
        (SMALL, "-x 256 -y 256"),
        (MEDIUM, "-x 512 -y 512"),
    ),
    "bitonicsort": (
        (SMALL, "-length 1024"),
        (MEDIUM, "-length 4096"),
        (LARGE, "-length 16384"),
    ),
    "conv2d": (
        (SMALL, "-N 1 -C 1 -H 12 -W 12 -output-channel 3"),
        (MEDIUM, "-N 1 -C 1 -H 28 -W 28 -output-channel 3"),
        (LARGE, "-N 1 -C 3 -H 64 -W 64 -output-channel 3"),
    ),
    "fastwalshtransform": (
        (SMALL, "-length 4096"),
        (MEDIUM, "-length 16384"),
        (LARGE, "-length 65536"),
    ),
    "fft": (
        (SMALL, "-bytes 65536"),
        (MEDIUM, "-bytes 262144"),
        (LARGE, "-bytes 1048576"),
    ),
    "fir": (
        (SMALL, "-length 16384"),
        (MEDIUM, "-length 65536"),
        (LARGE, "-length 262144"),
    ),
    "floydwarshall": (
        (SMALL, "-node 32"),
        (MEDIUM, "-node 64"),
        (LARGE, "-node 128"),
    ),
    "im2col": (
        (SMALL, "-N 1 -C 1 -H 28 -W 28"),
        (MEDIUM, "-N 1 -C 3 -H 64 -W 64"),
        (LARGE, "-N 4 -C 3 -H 64 -W 64"),
    ),
    "kmeans": (
        (SMALL, "-points 1024"),
        (MEDIUM, "-points 4096"),
        (LARGE, "-points 16384"),
    ),
    "matrixmultiplication": (
        (SMALL, "-x 128 -y 128 -z 128"),
        (MEDIUM, "-x 256 -y 256 -z 256"),
        (LARGE, "-x 512 -y 512 -z 512"),
    ),
    "matrixtranspose": (
        (SMALL, "-width 128"),
        (SMALL, "-width 256"),
        (MEDIUM, "-width 512"),
        (LARGE, "-width 1024"),
    ),
    "nbody": (
        (SMALL, "-particles 256"),
        (MEDIUM, "-particles 1024"),
    ),
    "nw": (
        (SMALL, "-length 64"),
        (MEDIUM, "-length 128"),
        (LARGE, "-length 256"),
    ),
    "pagerank": (
        (SMALL, "-node 64 -sparsity 0.1"),
        (MEDIUM, "-node 256 -sparsity 0.03"),
        (LARGE, "-node 512 -sparsity 0.02"),
    ),
    "relu": (
        (SMALL, "-length 65536"),
        (MEDIUM, "-length 262144"),
        (LARGE, "-length 1048576"),
    ),
    "simpleconvolution": (
        (SMALL, "-width 126 -height 126"),
        (MEDIUM, "-width 254 -height 254"),
        (LARGE, "-width 512 -height 512"),
    ),
    "spmv": (
        (SMALL, "-dim 1024"),
        (MEDIUM, "-dim 2048"),
        (LARGE, "-dim 4096"),
    ),
    "stencil2d": (
        (SMALL, "-row 128 -col 128 -iter 1"),
        (SMALL, "-row 128 -col 128 -iter 2"),
        (MEDIUM, "-row 256 -col 256 -iter 1"),
        (MEDIUM, "-row 512 -col 512 -iter 1"),
        (LARGE, "-row 512 -col 512 -iter 5"),
    ),
    "vectoradd": (
        (SMALL, "-width 256 -height 256"),
        (MEDIUM, "-width 512 -height 512"),
        (LARGE, "-width 1024 -height 1024"),
    ),
    # It has no flags: 50 epochs. On one GPU only.
    "xor": ((LARGE, ""),),
}

# Run before all others of their size.
FIRST = ("bfs", "fir", "matrixmultiplication", "simpleconvolution", "stencil2d")

# Samples that launch more than one kernel.
SEVERAL_LAUNCHES = (
    "atax",
    "bfs",
    "bicg",
    "bitonicsort",
    "conv2d",
    "fastwalshtransform",
    "fft",
    "floydwarshall",
    "kmeans",
    "nbody",
    "nw",
    "pagerank",
    "stencil2d",
    "xor",
)

ORDER = {
    (benchmark, parameters): place
    for place, (benchmark, parameters) in enumerate(
        (benchmark, parameters) for benchmark, inputs in SAMPLES.items() for _, parameters in inputs
    )
}

# What names a row of a table: benchmark, parameters and the number of GPUs as written.
Key = tuple[str, str, str]


class Point(NamedTuple):
    """One run of one sample."""

    size: str
    gpus: int
    benchmark: str
    parameters: str

    @property
    def key(self) -> Key:
        """What its rows have in common."""
        return (self.benchmark, self.parameters, str(self.gpus))

    def __str__(self) -> str:
        """As progress names it."""
        return f"{self.benchmark} {self.parameters}, {self.gpus} GPU{'s' if self.gpus > 1 else ''}"


def choose(benchmarks: set[str], gpus: list[int], sizes: list[str]) -> list[Point]:
    """Points with cheap ones first, so that an interrupted run leaves a useful table."""
    names = sorted(SAMPLES, key=lambda name: name not in FIRST)
    return [
        Point(size, count, name, parameters)
        for together in ((SMALL, MEDIUM), (LARGE,))
        for count in gpus
        for size in together
        if size in sizes
        for name in names
        if name in benchmarks and not (name == "xor" and count > 1)
        for of, parameters in SAMPLES[name]
        if of == size
    ]


def own(texts: list[str], gpus: list[int]) -> list[Point]:
    """Points as the command line names them, such as `fir -length 5000 -taps 7`.

    Raises:
        ValueError: there is no such sample.

    """
    points = []
    for text in texts:
        name, *parameters = text.split() or [""]
        if name not in SAMPLES:
            raise ValueError(f"--point {text!r}: there is no benchmark {name!r}; expected {', '.join(sorted(SAMPLES))}")
        points += [Point(OWN, count, name, " ".join(parameters)) for count in gpus]
    return points


def trace_name(benchmark: str, parameters: str, gpus: int | str) -> str:
    """Folder of a point's trace; octavo_studies.validate.reference names it so, too."""
    words = re.sub(r"[^\w.]+", "-", parameters.replace("-", "")).strip("-")
    of_gpus = f"{gpus}gpus" if int(gpus) > 1 else ""
    return "-".join(part for part in (benchmark, words, of_gpus) if part) + ".trace"
