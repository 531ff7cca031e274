"""Two installed versions of Octavo side by side: simulated line accesses a second under GRIT, run by run in turn.

pip install --no-deps --target old dist/octavo-OLD.whl; pip install --no-deps --target new dist/octavo-NEW.whl
python python/benchmarks/versions.py old new                        # eight kernels at scale 1/16, five times each
python python/benchmarks/versions.py old new --scale 1 --kernels bfs,st

A machine is never the same for two minutes. Therefore each kernel runs with one version and then with the other, and
both the fastest runs and the medians are compared.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from pathlib import Path

KERNELS = "bfs,bs,c2d,fir,gemm,mm,sc,st"

# Run with the version in the folder that is named, through names that all versions have.
MEASURE = """
import json, sys, time
sys.path[0], kernel, scale = sys.argv[1:]
import octavo
from octavo import _core
assert octavo.__file__.startswith(sys.path[0]), octavo.__file__
scenario = octavo.scenario(workload=kernel, placement="grit", scale=float(scale), overrides={"record.events": False})
start = time.perf_counter()
accesses = json.loads(_core.run(scenario.toml)[0])["accesses"]
seconds = time.perf_counter() - start
print((accesses["load_lines"] + accesses["store_lines"]) / seconds * 1e-6)
"""


def rate(version: Path, kernel: str, scale: float) -> float:
    """Million lines a second of one run in a process of its own."""
    command = [sys.executable, "-c", MEASURE, str(version.resolve()), kernel, str(scale)]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def compare(versions: tuple[Path, Path], kernel: str, scale: float, repeat: int) -> tuple[float, float]:
    """Print a kernel's row; return how many times as fast the second version is, by fastest runs and by medians."""
    rates: dict[Path, list[float]] = {version: [] for version in versions}
    for turn in range(repeat):
        for version in versions if turn % 2 == 0 else versions[::-1]:
            rates[version].append(rate(version, kernel, scale))
    fastest = [max(rates[version]) for version in versions]
    medians = [statistics.median(rates[version]) for version in versions]
    ratios = fastest[1] / fastest[0], medians[1] / medians[0]
    numbers = "".join(f"{number:>10.2f}" for number in (*fastest, ratios[0], *medians, ratios[1]))
    print(f"{kernel:<10}{numbers}", flush=True)
    return ratios


def main() -> None:
    """Print a row for each kernel, and geometric means of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, help="folder into which one version is installed")
    parser.add_argument("new", type=Path, help="folder of the other")
    parser.add_argument("--scale", type=float, default=0.0625)
    parser.add_argument("--kernels", default=KERNELS)
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    versions = arguments.old, arguments.new
    for version in versions:
        if not (version / "octavo").is_dir():
            parser.error(f"{version}: expected a folder with the package `octavo`, found none")
    print("M lines/s    fastest runs:   ratio              medians:     ratio")
    print(f"{'':<10}" + "".join(f"{word:>10}" for word in ("old", "new", "new/old") * 2))
    ratios = [compare(versions, name, arguments.scale, arguments.repeat) for name in arguments.kernels.split(",")]
    fastest, medians = (statistics.geometric_mean(column) for column in zip(*ratios, strict=True))
    print(f"{'geomean':<30}{fastest:>10.2f}{'':<20}{medians:>10.2f}")


if __name__ == "__main__":
    main()
