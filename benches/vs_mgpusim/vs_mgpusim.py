#!/usr/bin/env python3
"""Octavo against MGPUSim on the same kernels, one core each, in turn; see README.md."""

import argparse
import json
import math
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Name, benchmark of MGPUSim, its parameters.
KERNELS = (
    ("matrixmultiplication", "matrixmultiplication", "-x 512 -y 512 -z 512"),
    ("bfs-shoc", "bfs", "-node 65536 -degree 8"),
    ("fir", "fir", "-length 262144"),
    ("stencil2d", "stencil2d", "-row 512 -col 512 -iter 1"),
    ("simpleconvolution", "simpleconvolution", "-width 512 -height 512"),
)


def measured(command, **options):
    """Runs a program; returns what it printed, and its wall and CPU seconds and largest resident bytes."""
    environment = dict(os.environ, GOMAXPROCS="1")
    with tempfile.TemporaryFile() as output:
        began = time.perf_counter()
        child = subprocess.Popen(command, stdout=output, env=environment, **options)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            sys.exit(f"{command[0]} ended with {child.returncode}")
        output.seek(0)
        text = output.read().decode()
    return text, {
        "wall_s": wall,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "rss_bytes": usage.ru_maxrss * 1024,
    }


def run_mgpusim(binaries, benchmark, parameters, scratch):
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{benchmark}-", dir=scratch))
    command = [str(binaries / benchmark), "-timing", "-disable-rtm", *parameters.split()]
    _, result = measured(command, cwd=folder)
    (database,) = folder.glob("akita_sim_*.sqlite3")
    query = "SELECT Value FROM mgpusim_metrics WHERE Location = 'Driver' AND What = 'kernel_time'"
    with sqlite3.connect(database) as connection:
        result["kernel_s"] = sum(float(value) for (value,) in connection.execute(query))
    shutil.rmtree(folder)
    return result


def run_octavo(binary, trace):
    text, result = measured([str(binary), str(trace)])
    printed = json.loads(text)
    result["kernel_s"] = printed["time_ps"] * 1e-12
    result["lines"] = printed["lines"]
    return result


def build(arguments):
    """Missing parts: the samples, the recorder, the replay."""
    samples = arguments.work / "bin"
    if arguments.mgpusim is None and not arguments.octavo_only:
        arguments.mgpusim = samples
        if not all((samples / benchmark).exists() for _, benchmark, _ in KERNELS):
            samples.mkdir(parents=True, exist_ok=True)
            tools = ROOT / "tools" / "mgpusim-reference"
            subprocess.run(["go", "build", "-o", f"{samples}{os.sep}", "tool"], cwd=tools, check=True)
    if arguments.recorder is None:
        arguments.recorder = arguments.work / "mgpusim-trace"
        missing = any(not trace_of(arguments, name).exists() for name in arguments.kernels)
        if missing and not arguments.recorder.exists():
            tools = ROOT / "tools" / "mgpusim-trace"
            subprocess.run(["go", "build", "-o", str(arguments.recorder), "."], cwd=tools, check=True)
    if arguments.octavo is None:
        command = ["cargo", "build", "--release", "--quiet", "-p", "octavo-sim", "--example", "replay"]
        subprocess.run(command, cwd=ROOT, check=True)
        target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
        arguments.octavo = target / "release" / "examples" / "replay"


def trace_of(arguments, name):
    return arguments.work / "traces" / f"{name}.trace"


def record(arguments, name, benchmark, parameters):
    trace = trace_of(arguments, name)
    if trace.exists():
        return
    trace.parent.mkdir(parents=True, exist_ok=True)
    command = [str(arguments.recorder), "-benchmark", benchmark, "-o", str(trace), "--"]
    subprocess.run(command + parameters.split(), check=True, stdout=subprocess.DEVNULL)


def best(runs, key):
    return min(run[key] for run in runs)


def compare(arguments, results):
    """Runs both in turn; results are written after each run of MGPUSim, which takes minutes."""
    for turn in range(arguments.turns):
        for name, benchmark, parameters in KERNELS:
            if name not in arguments.kernels:
                continue
            record(arguments, name, benchmark, parameters)
            entry = results.setdefault(name, {"command": f"{benchmark} {parameters}", "mgpusim": []})
            if turn == 0:
                entry["octavo"] = []
                if not arguments.octavo_only:
                    entry["mgpusim"] = []
            octavo = lambda: run_octavo(arguments.octavo, trace_of(arguments, name))
            # Half of Octavo's runs before, half after.
            before = arguments.repeat // 2
            entry["octavo"] += [octavo() for _ in range(before)]
            if not arguments.octavo_only:
                print(f"{name}: {benchmark} {parameters}", file=sys.stderr, flush=True)
                entry["mgpusim"].append(run_mgpusim(arguments.mgpusim, benchmark, parameters, arguments.work))
            entry["octavo"] += [octavo() for _ in range(arguments.repeat - before)]
            arguments.json.write_text(json.dumps(results, indent=1) + "\n")


def table(results):
    """The fastest run of each counts; MGPUSim's may be fewer."""
    print(
        f"{'':>7} | {'wall s':>8} {'wall s':>8} {'':>6} | {'CPU s':>8} {'CPU s':>8} {'':>6} | "
        f"{'kernel us':>9} {'kernel us':>9} {'':>6} | {'MiB':>7} {'MiB':>7} {'':>6} | {'':>8}"
    )
    print(
        f"{'kernel':>7} | {'MGPUSim':>8} {'Octavo':>8} {'ratio':>6} | {'MGPUSim':>8} {'Octavo':>8} {'ratio':>6} | "
        f"{'MGPUSim':>9} {'Octavo':>9} {'error':>6} | {'MGPUSim':>7} {'Octavo':>7} {'ratio':>6} | {'Mlines/s':>8}"
    )
    ratios = {"wall_s": [], "cpu_s": [], "rss_bytes": []}
    for name, entry in results.items():
        theirs, ours = entry["mgpusim"], entry["octavo"]
        if not theirs or not ours:
            continue
        pairs = {key: (best(theirs, key), best(ours, key)) for key in ratios}
        for key, (their, our) in pairs.items():
            ratios[key].append(their / our)
        kernel = theirs[0]["kernel_s"], ours[0]["kernel_s"]
        cells = [f"{name:>7}"]
        for key in ("wall_s", "cpu_s"):
            their, our = pairs[key]
            cells.append(f"{their:8.1f} {our:8.4f} {their / our:6.0f}")
        cells.append(f"{kernel[0] * 1e6:9.2f} {kernel[1] * 1e6:9.2f} {kernel[1] / kernel[0] - 1:+6.1%}")
        their, our = pairs["rss_bytes"]
        cells.append(f"{their / 2**20:7.0f} {our / 2**20:7.1f} {their / our:6.0f}")
        cells.append(f"{ours[0]['lines'] / pairs['cpu_s'][1] / 1e6:8.1f}")
        print(" | ".join(cells))
    if ratios["wall_s"]:
        means = [math.exp(sum(map(math.log, values)) / len(values)) for values in ratios.values()]
        print("geometric means: wall {:.0f}, CPU time {:.0f}, memory {:.0f}".format(*means))


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    names = [name for name, _, _ in KERNELS]
    parser.add_argument("--kernels", default=",".join(names), help="some of " + ",".join(names))
    parser.add_argument("--repeat", type=int, default=10, help="runs of Octavo around each run of MGPUSim")
    parser.add_argument("--turns", type=int, default=1, help="runs of MGPUSim of each kernel")
    parser.add_argument("--octavo-only", action="store_true", help="compare with MGPUSim's figures in --json")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "target" / "vs_mgpusim",
                        help="folder for binaries, traces and scratch files")
    parser.add_argument("--json", type=pathlib.Path, help="results (WORK/results.json)")
    parser.add_argument("--mgpusim", type=pathlib.Path, help="folder of MGPUSim's samples, if built elsewhere")
    parser.add_argument("--recorder", type=pathlib.Path, help="mgpusim-trace, if built elsewhere")
    parser.add_argument("--octavo", type=pathlib.Path, help="the replay example, if built elsewhere")
    arguments = parser.parse_args()
    arguments.kernels = arguments.kernels.split(",")
    unknown = set(arguments.kernels) - set(names)
    if unknown:
        parser.error(f"unknown kernels: {', '.join(sorted(unknown))}")
    for option in ("work", "json", "mgpusim", "recorder", "octavo"):
        if (path := getattr(arguments, option)) is not None:
            setattr(arguments, option, path.resolve())
    arguments.json = arguments.json or arguments.work / "results.json"
    return arguments


def main():
    arguments = parse()
    arguments.work.mkdir(parents=True, exist_ok=True)
    build(arguments)
    results = json.loads(arguments.json.read_text()) if arguments.json.exists() else {}
    compare(arguments, results)
    table(results)


if __name__ == "__main__":
    main()
