"""Two installed versions of Octavo side by side: simulated line accesses a second under GRIT, run by run in turn.

pip install --no-deps --target old dist/octavo-OLD.whl; pip install --no-deps --target new dist/octavo-NEW.whl
python python/benchmarks/versions.py old new                        # eight kernels at scale 1/16, 15 pairs each
python python/benchmarks/versions.py old new --node grit-16gpu      # on a larger node
python python/benchmarks/versions.py old new --scale 1 --kernels bfs-shoc,stencil2d --pairs 5
python python/benchmarks/versions.py old new --kernels bs:bitonicsort,fir   # a kernel that the old version calls `bs`

A machine is never the same for two minutes, and its quarters of an hour differ by more than most changes are worth.
Therefore each kernel runs with one version and at once with the other, and pairs are compared. The result is the median
of their ratios, and its 90 % interval: nine of ten draws with replacement from the same pairs have their median there.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np

KERNELS = "bfs-shoc,bitonicsort,c2d,fir,gemm,matrixmultiplication,simpleconvolution,stencil2d"
DRAWS = 2000

# Run with the version in the folder that is named, through names that all versions have.
MEASURE = """
import json, sys, time
sys.path[0], kernel, scale, node = sys.argv[1:]
import octavo
import octavo._core as _core
assert octavo.__file__.startswith(sys.path[0]), octavo.__file__
overrides = {"record.events": False}
scenario = octavo.scenario(workload=kernel, placement="grit", node=node, scale=float(scale), overrides=overrides)
start = time.perf_counter()
accesses = json.loads(_core.run(scenario.toml)[0])["accesses"]
seconds = time.perf_counter() - start
print((accesses["load_lines"] + accesses["store_lines"]) / seconds * 1e-6)
"""


def rate(version: Path, kernel: str, scale: float, node: str) -> float:
    """Million lines a second of one run in a process of its own."""
    command = [sys.executable, "-c", MEASURE, str(version.resolve()), kernel, str(scale), node]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def medians_drawn(ratios: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Medians of as many ratios as there are pairs, drawn from them with replacement."""
    return np.median(generator.choice(ratios, size=(DRAWS, len(ratios))), axis=1)


def verdict(ratio: float, drawn: np.ndarray) -> str:
    """A ratio, and the interval that nine of ten drawn ones lie in."""
    low, high = np.quantile(drawn, (0.05, 0.95))
    return f"{ratio:>10.3f}{low:>10.3f} to {high:.3f}"


def compare(versions: tuple[Path, Path], kernel: str, arguments: argparse.Namespace) -> np.ndarray:
    """Print a kernel's row; return how many times as fast the second version is in each pair."""
    rates: dict[Path, list[float]] = {version: [] for version in versions}
    names = dict(zip(versions, (kernel.split(":") * 2)[:2], strict=True))
    for turn in range(arguments.pairs):
        for version in versions if turn % 2 == 0 else versions[::-1]:
            rates[version].append(rate(version, names[version], arguments.scale, arguments.node))
    old, new = (np.array(rates[version]) for version in versions)
    columns = (old.max(), new.max(), np.median(old), np.median(new))
    print(f"{kernel:<10}" + "".join(f"{number:>10.2f}" for number in columns), end="")
    return new / old


def main() -> None:
    """Print a row for each kernel, and geometric means of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, help="folder into which one version is installed")
    parser.add_argument("new", type=Path, help="folder of the other")
    parser.add_argument("--scale", type=float, default=0.0625)
    parser.add_argument("--node", default="grit-4gpu")
    parser.add_argument("--kernels", default=KERNELS, help="names, OLD:NEW where the versions differ")
    parser.add_argument("--pairs", type=int, default=15, help="pairs of runs a kernel (default %(default)s)")
    arguments = parser.parse_args()
    versions = arguments.old, arguments.new
    for version in versions:
        if not (version / "octavo").is_dir():
            parser.error(f"{version}: expected a folder with the package `octavo`, found none")
    print("M lines/s     fastest runs           medians             new/old, median of pairs")
    print(f"{'':<10}" + "".join(f"{word:>10}" for word in ("old", "new") * 2) + f"{'90 % of medians':>29}")
    generator, medians, drawn = np.random.default_rng(1), [], []
    for name in arguments.kernels.split(","):
        ratios = compare(versions, name, arguments)
        medians.append(float(np.median(ratios)))
        drawn.append(medians_drawn(ratios, generator))
        print(verdict(medians[-1], drawn[-1]), flush=True)
    print(f"{'geomean':<50}" + verdict(statistics.geometric_mean(medians), np.exp(np.mean(np.log(drawn), axis=0))))


if __name__ == "__main__":
    main()
