#!/usr/bin/env python3
"""Runs the stock samples of MGPUSim v4.2.0 in timing mode and caches what they report.

Each point is one run of one sample program, built from the released module
(see go.mod beside this file), on one GPU or on four unified GPUs, without
unified memory. The sums over all units of a kind go to
validation/mgpusim-v4.2.0.csv, the same metrics per GPU and kind of unit to
validation/mgpusim-v4.2.0-units.csv; validation/README.md explains the columns.
With --launches it runs the samples that launch more than one kernel a second
time, by a program that also notes each launch, for
validation/mgpusim-v4.2.0-launches.csv. With --record it records what these
points execute with tools/mgpusim-trace, for validation/traces.

A point that is already in the CSV is not run again unless --rerun is given.
"""

import argparse
import csv
import math
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
REPO = HERE.parent.parent
VERSION = "v4.2.0"
COMMON = ["-timing", "-disable-rtm", "-report-all"]
UNIFIED = {1: [], 4: ["-unified-gpus", "1,2,3,4"]}

TRACES = REPO / "validation" / "traces"
LARGEST_TRACE = 1_000_000  # bytes

SMALL, MEDIUM, LARGE = "small", "medium", "large"
SIZES = (SMALL, MEDIUM, LARGE)


def _points():
    """(benchmark, parameters, size class) in the order they are listed in the CSV."""
    rows = []

    def add(bench, *sized):
        for size, params in sized:
            rows.append((bench, params, size))

    add("aes", (SMALL, "-length 16384"), (MEDIUM, "-length 65536"), (LARGE, "-length 262144"))
    add("atax", (SMALL, "-x 128 -y 128"), (SMALL, "-x 256 -y 256"), (MEDIUM, "-x 512 -y 512"))
    add("bfs", (SMALL, "-node 1024 -degree 3"), (MEDIUM, "-node 4096 -degree 3"),
        (LARGE, "-node 16384 -degree 8"))
    add("bicg", (SMALL, "-x 128 -y 128"), (SMALL, "-x 256 -y 256"), (MEDIUM, "-x 512 -y 512"))
    add("bitonicsort", (SMALL, "-length 1024"), (MEDIUM, "-length 4096"),
        (LARGE, "-length 16384"))
    add("conv2d", (SMALL, "-N 1 -C 1 -H 12 -W 12 -output-channel 3"),
        (MEDIUM, "-N 1 -C 1 -H 28 -W 28 -output-channel 3"),
        (LARGE, "-N 1 -C 3 -H 64 -W 64 -output-channel 3"))
    add("fastwalshtransform", (SMALL, "-length 4096"), (MEDIUM, "-length 16384"),
        (LARGE, "-length 65536"))
    add("fft", (SMALL, "-bytes 65536"), (MEDIUM, "-bytes 262144"), (LARGE, "-bytes 1048576"))
    add("fir", (SMALL, "-length 16384"), (MEDIUM, "-length 65536"), (LARGE, "-length 262144"))
    add("floydwarshall", (SMALL, "-node 32"), (MEDIUM, "-node 64"), (LARGE, "-node 128"))
    add("im2col", (SMALL, "-N 1 -C 1 -H 28 -W 28"), (MEDIUM, "-N 1 -C 3 -H 64 -W 64"),
        (LARGE, "-N 4 -C 3 -H 64 -W 64"))
    add("kmeans", (SMALL, "-points 1024"), (MEDIUM, "-points 4096"), (LARGE, "-points 16384"))
    add("matrixmultiplication", (SMALL, "-x 128 -y 128 -z 128"),
        (MEDIUM, "-x 256 -y 256 -z 256"), (LARGE, "-x 512 -y 512 -z 512"))
    add("matrixtranspose", (SMALL, "-width 128"), (SMALL, "-width 256"), (MEDIUM, "-width 512"),
        (LARGE, "-width 1024"))
    add("nbody", (SMALL, "-particles 256"), (MEDIUM, "-particles 1024"))
    add("nw", (SMALL, "-length 64"), (MEDIUM, "-length 128"), (LARGE, "-length 256"))
    add("pagerank", (SMALL, "-node 64 -sparsity 0.1"), (MEDIUM, "-node 256 -sparsity 0.03"),
        (LARGE, "-node 512 -sparsity 0.02"))
    add("relu", (SMALL, "-length 65536"), (MEDIUM, "-length 262144"), (LARGE, "-length 1048576"))
    add("simpleconvolution", (SMALL, "-width 126 -height 126"),
        (MEDIUM, "-width 254 -height 254"), (LARGE, "-width 512 -height 512"))
    add("spmv", (SMALL, "-dim 1024"), (MEDIUM, "-dim 2048"), (LARGE, "-dim 4096"))
    add("stencil2d", (SMALL, "-row 128 -col 128 -iter 1"), (SMALL, "-row 128 -col 128 -iter 2"),
        (MEDIUM, "-row 256 -col 256 -iter 1"), (MEDIUM, "-row 512 -col 512 -iter 1"),
        (LARGE, "-row 512 -col 512 -iter 5"))
    add("vectoradd", (SMALL, "-width 256 -height 256"), (MEDIUM, "-width 512 -height 512"),
        (LARGE, "-width 1024 -height 1024"))
    return rows


POINTS = _points()
FIRST = ("bfs", "fir", "matrixmultiplication", "simpleconvolution", "stencil2d")
ORDER = {(b, p): i for i, (b, p, _) in enumerate(POINTS)}

# column -> (kind of unit, metric); the kind is the location without GPU, shader array and indices
SUMS = {"instructions": [("CU", "cu_inst_count")]}
for _column, _kind in (("l1v", "L1VCache"), ("l1s", "L1SCache"), ("l1i", "L1ICache"),
                       ("l2", "L2Cache")):
    for _op in ("read", "write"):
        if _op == "write" and _column in ("l1s", "l1i"):
            continue
        for _what in ("hit", "miss", "mshr-hit"):
            SUMS[f"{_column}_{_op}_{_what}".replace("-", "_")] = [(_kind, f"{_op}-{_what}")]
for _column, _kind in (("l1v_tlb", "L1VTLB"), ("l1s_tlb", "L1STLB"), ("l1i_tlb", "L1ITLB"),
                       ("l2_tlb", "L2TLB")):
    for _what in ("hit", "miss", "mshr-hit"):
        SUMS[f"{_column}_{_what}".replace("-", "_")] = [(_kind, _what)]
SUMS["dram_reads"] = [("DRAM", "read_trans_count")]
SUMS["dram_writes"] = [("DRAM", "write_trans_count")]
SUMS["dram_read_bytes"] = [("DRAM", "read_size")]
SUMS["dram_write_bytes"] = [("DRAM", "write_size")]
SUMS["rdma_outgoing"] = [("RDMA", "outgoing_trans_count")]
SUMS["rdma_incoming"] = [("RDMA", "incoming_trans_count")]
VECTOR_LINES = [("L1VCache", f"{op}-{what}") for op in ("read", "write")
                for what in ("hit", "miss", "mshr-hit")]

LATENCIES = {"l1v_mean_latency_ns": "L1VCache", "l1s_mean_latency_ns": "L1SCache",
             "l1i_mean_latency_ns": "L1ICache", "l2_mean_latency_ns": "L2Cache"}

COLUMNS = (["benchmark", "parameters", "gpus", "error", "kernel_time_s", "gpu_time_max_s",
            "instructions", "vector_lines"]
           + [c for c in SUMS if c != "instructions"]
           + list(LATENCIES)
           + ["wall_s", "cpu_s", "peak_rss_mb", "command"])
SEVERAL_LAUNCHES = ("atax", "bfs", "bicg", "bitonicsort", "conv2d", "fastwalshtransform",
                    "floydwarshall", "kmeans", "nbody", "nw", "pagerank", "stencil2d")
LAUNCH_COLUMNS = ["benchmark", "parameters", "gpus", "launch", "kernel", "grid", "group",
                  "begin_cycle", "cycles", "flushes_before", "h2d_lines_before",
                  "d2h_lines_before"]
UNIT_COLUMNS = ["benchmark", "parameters", "gpus", "gpu", "unit", "metric", "units", "value"]


def kind_of(location):
    """('1', 'L1VCache') for 'GPU[1].SA[3].L1VCache[0]'; ('', 'Driver') outside a GPU."""
    gpu = re.match(r"GPU\[(\d+)\]\.", location)
    return (gpu.group(1) if gpu else "",
            re.sub(r"\[\d+\]", "", location.rsplit(".", 1)[-1]))


def read_metrics(path):
    """[(location, what, value)] of one run, NaN and infinities left out."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        rows = db.execute("SELECT Location, What, Value FROM mgpusim_metrics").fetchall()
    return [(where, what, float(value)) for where, what, value in rows
            if value is not None and math.isfinite(float(value))]


def number(value):
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else value


def seconds(value):
    """The report adds times as floating point seconds; the clock has whole nanoseconds."""
    return f"{value:.9f}"


def summarise(metrics):
    """(columns of the run's row, rows of the table per GPU and unit)."""
    total, per_gpu, weight, gpu_time = {}, {}, {}, 0.0
    kernel_time = None
    accesses, instructions = {}, {}
    for where, what, value in metrics:
        if where == "Driver" and what == "kernel_time":
            kernel_time = value
        elif what == "kernel_time":
            gpu_time = max(gpu_time, value)
        _, kind = kind_of(where)
        if kind.endswith("Cache") and what.split("-")[0] in ("read", "write"):
            accesses[where] = accesses.get(where, 0.0) + value
        if what == "cu_inst_count":
            instructions[where] = value
    for where, what, value in metrics:
        gpu, kind = kind_of(where)
        if kind == "L2ToDRAM" or what in ("cu_CPI", "simd_CPI", "simd_inst_count"):
            continue
        if what.startswith("SIMDCPIStack."):
            continue
        key = (kind, what)
        if what.startswith("CPIStack."):
            # cycles per instruction of one CU -> cycles, which can be added up
            key = (kind, what.replace("CPIStack.", "cycles."))
            value *= instructions.get(where, 0.0)
        elif what == "req_average_latency":
            key = (kind, "latency_ns_times_requests")
            value *= 1e9 * accesses.get(where, 0.0)
            weight[kind] = weight.get(kind, 0.0) + accesses.get(where, 0.0)
        elif what.endswith("_avg_latency"):
            continue
        elif what == "kernel_time":
            key = (kind, "kernel_time_ns")
            value *= 1e9
        total[key] = total.get(key, 0.0) + value
        count, so_far = per_gpu.get((gpu,) + key, (0, 0.0))
        per_gpu[(gpu,) + key] = (count + 1, so_far + value)
    if kernel_time is None:
        raise ValueError("no kernel_time was reported")
    row = {"kernel_time_s": seconds(kernel_time), "gpu_time_max_s": seconds(gpu_time)}
    for column, parts in SUMS.items():
        row[column] = number(sum(total.get(part, 0.0) for part in parts))
    row["vector_lines"] = number(sum(total.get(part, 0.0) for part in VECTOR_LINES))
    for column, kind in LATENCIES.items():
        if weight.get(kind):
            row[column] = f"{total[(kind, 'latency_ns_times_requests')] / weight[kind]:.2f}"
    units = [{"gpu": gpu, "unit": kind, "metric": what, "units": count,
              "value": number(round(value, 1))}
             for (gpu, kind, what), (count, value) in sorted(per_gpu.items()) if value]
    return row, units


def cpu_seconds(pid):
    """CPU time of a running process, or None where it cannot be read."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return None


class Watch:
    """Says when to give up: too much CPU time, or too long without any."""

    def __init__(self, pid, limit):
        self.pid, self.limit = pid, limit
        self.cpu = 0.0
        self.began = self.advanced = time.monotonic()

    def expired(self):
        now, cpu = time.monotonic(), cpu_seconds(self.pid)
        if cpu is None:
            cpu = now - self.began  # not readable here: let wall time count
        if cpu - self.cpu >= 1:
            self.cpu, self.advanced = cpu, now
        return cpu > self.limit or now - self.advanced > max(60, self.limit / 2)


def launch_rows(path):
    """Rows of the table of launches from what the launches program wrote."""
    rows, flushes, lines = [], 0, {"MemCopyH2D": 0, "MemCopyD2H": 0}
    with open(path, newline="") as file:
        for command in csv.DictReader(file):
            flushes += int(command["flushes"])
            if command["command"] in lines:
                lines[command["command"]] += int(command["lines"])
            if "Launch" not in command["command"]:
                continue
            begin, end = int(command["begin"]), int(command["end"])
            rows.append({"launch": len(rows) + 1, "kernel": command["kernel"],
                         "grid": command["grid"], "group": command["group"],
                         "begin_cycle": begin, "cycles": end - begin, "flushes_before": flushes,
                         "h2d_lines_before": lines["MemCopyH2D"],
                         "d2h_lines_before": lines["MemCopyD2H"]})
            flushes, lines = 0, {"MemCopyH2D": 0, "MemCopyD2H": 0}
    return rows


def run_point(binary, params, gpus, scratch, timeout, args=None, collect=None):
    """Runs one program in a fresh directory; returns (row, unit rows or what collect makes)."""
    args = (COMMON + UNIFIED[gpus] if args is None else args) + params.split()
    row = {"command": " ".join([binary.name] + args), "error": ""}
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{binary.name}-", dir=scratch))
    env = dict(os.environ, GOMAXPROCS="1")
    log_path = folder / "output.txt"
    started = time.monotonic()
    with open(log_path, "wb") as log:
        child = subprocess.Popen([str(binary)] + args, cwd=folder, env=env, stdout=log,
                                 stderr=subprocess.STDOUT, start_new_session=True,
                                 preexec_fn=lambda: os.nice(5))
        usage, status, timed_out = None, None, False
        watch = Watch(child.pid, timeout)
        try:
            while True:
                pid, status, usage = os.wait4(child.pid, os.WNOHANG)
                if pid:
                    break
                if watch.expired():
                    timed_out = True
                    os.killpg(child.pid, signal.SIGKILL)
                    _, status, usage = os.wait4(child.pid, 0)
                    break
                time.sleep(0.2)
        except BaseException:
            os.killpg(child.pid, signal.SIGKILL)
            os.wait4(child.pid, 0)
            raise
        finally:
            child.returncode = 0  # it has been waited for
    row["wall_s"] = f"{time.monotonic() - started:.1f}"
    row["cpu_s"] = f"{usage.ru_utime + usage.ru_stime:.1f}"
    row["peak_rss_mb"] = round(usage.ru_maxrss / 1024)
    units = []
    code = os.waitstatus_to_exitcode(status)
    if timed_out:
        row["error"] = f"stopped after {row['cpu_s']} s of CPU time, {row['wall_s']} s in all"
    elif code != 0:
        row["error"] = f"exit {code}: {first_error(log_path)}"
    elif collect:
        units = collect(folder)
    else:
        databases = list(folder.glob("akita_sim_*.sqlite3"))
        try:
            if len(databases) != 1:
                raise ValueError(f"{len(databases)} result files")
            sums, units = summarise(read_metrics(databases[0]))
            row.update(sums)
        except (ValueError, sqlite3.Error) as error:
            row["error"] = f"no result: {error}"
    if not row["error"]:
        shutil.rmtree(folder)
    else:
        for database in folder.glob("*.sqlite3*"):
            database.unlink()
    return row, units


def first_error(path):
    text = path.read_text(errors="replace")
    for line in text.splitlines():
        if re.search(r"panic|fatal error|flag provided", line, re.I):
            return re.sub(r"\s+", " ", re.sub(r"(/[\w.@+-]+)+/", "", line)).strip()[:160]
    lines = [line for line in text.splitlines() if line.strip()]
    return re.sub(r"(/[\w.@+-]+)+/", "", lines[-1]).strip()[:160] if lines else "no output"


def load(path, columns):
    if not path.exists():
        return []
    with open(path, newline="") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != columns:
            sys.exit(f"{path}: other columns than this script writes; move it away and run again")
        return list(reader)


def store(path, columns, rows):
    def order(row):
        key = ORDER.get((row["benchmark"], row["parameters"]), len(ORDER))
        return (row["benchmark"], key, row["parameters"], int(row["gpus"]))

    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    with open(temporary, "w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n", restval="")
        writer.writeheader()
        writer.writerows(sorted(rows, key=order))
    os.replace(temporary, path)


def key_of(row):
    return (row["benchmark"], row["parameters"], str(row["gpus"]))


def note_launches(args, todo, rows, bin_dir):
    """The mode --launches."""
    path = args.output.with_name(args.output.stem + "-launches.csv")
    table = {}
    for row in load(path, LAUNCH_COLUMNS):
        table.setdefault(key_of(row), []).append(row)
    todo = [point for point in todo if point[2] in SEVERAL_LAUNCHES]
    for number_, (_, gpus, bench, params) in enumerate(todo, 1):
        key = (bench, params, str(gpus))
        known = rows.get(key)
        if (key in table and not args.rerun) or not known or known["error"]:
            continue
        print(f"[{number_}/{len(todo)}] launches of {bench} {params}, {gpus} "
              f"GPU{'s' if gpus > 1 else ''} ...", end="", flush=True)
        row, launches = run_point(
            bin_dir / "launches", params, gpus, args.work, args.timeout,
            args=["-benchmark", bench, "-commands", "commands.csv", "-timing", "-disable-rtm"]
            + UNIFIED[gpus],
            collect=lambda folder: launch_rows(folder / "commands.csv"))
        if row["error"]:
            print(f" {row['error']}", flush=True)
            continue
        total = sum(launch["cycles"] for launch in launches)
        expected = round(float(known["kernel_time_s"]) * 1e9)
        print(f" {len(launches)} launches, {total} cycles"
              + ("" if total == expected else f" BUT {expected} in the table of results"),
              flush=True)
        if total != expected:
            continue
        table[key] = [dict(launch, benchmark=bench, parameters=params, gpus=gpus)
                      for launch in launches]
        store(path, LAUNCH_COLUMNS, [row for group in table.values() for row in group])


def trace_name(bench, params, gpus):
    """Folder of a point's trace; octavo.validate.reference names it so, too."""
    params = re.sub(r"[^\w.]+", "-", params.replace("-", "")).strip("-")
    return f"{bench}-{params}" + (f"-{gpus}gpus" if int(gpus) > 1 else "") + ".trace"


def record(args, todo, rows, bin_dir):
    """The mode --record: a trace of every chosen point that has a result."""
    recorder = bin_dir / "mgpusim-trace"
    print(f"building the recorder into {bin_dir}", flush=True)
    bin_dir.mkdir(parents=True, exist_ok=True)
    subprocess.run(["go", "build", "-o", str(recorder), "."],
                   cwd=REPO / "tools" / "mgpusim-trace", check=True)
    todo = [point for point in todo if rows.get((point[2], point[3], str(point[1])))]
    failed, large = 0, []
    for number_, (_, gpus, bench, params) in enumerate(todo, 1):
        path = args.record / trace_name(bench, params, gpus)
        if path.exists() and not args.rerun:
            continue
        print(f"[{number_}/{len(todo)}] {path.name} ...", end="", flush=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            [str(recorder), "-quiet", "-force", "-benchmark", bench, "-gpus", str(gpus),
             "-o", path.name, "--"] + params.split(),
            cwd=args.record, text=True, capture_output=True, check=False)
        if done.returncode:
            failed += 1
            print(f" {done.stderr.strip()[-300:]}", flush=True)
            continue
        size = sum(file.stat().st_size for file in path.iterdir())
        if size > LARGEST_TRACE:
            large.append(path.name)
            shutil.rmtree(path)
        print(f" {size / 1000:.0f} kB" + (", too large to keep" if size > LARGEST_TRACE else ""),
              flush=True)
    print(f"{len(list(args.record.glob('*.trace')))} traces in {args.record}; failed: {failed}"
          + (f"; too large: {', '.join(large)}" if large else ""))
    return 1 if failed else 0


def build(bin_dir):
    bin_dir.mkdir(parents=True, exist_ok=True)
    print(f"building the samples of MGPUSim {VERSION} into {bin_dir}", flush=True)
    subprocess.run(["go", "build", "-o", f"{bin_dir}{os.sep}", "tool", "./launches"], cwd=HERE,
                   check=True)


def check_version(binary):
    """The binary must be the released module's, with fixed random inputs."""
    info = subprocess.run(["go", "version", "-m", str(binary)], check=True, text=True,
                          capture_output=True).stdout
    for needle in (f"github.com/sarchlab/mgpusim/v4\t{VERSION}", "randautoseed=0",
                   "randseednop=0"):
        if needle not in info:
            sys.exit(f"{binary}: not built by this module ({needle!r} is missing); use --build")


def parse(argv):
    names = sorted({b for b, _, _ in POINTS})
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0], epilog="\n\n".join(__doc__.split("\n\n")[1:]),
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="NAMES",
                        help=f"benchmarks, separated by commas, of: {', '.join(names)}")
    parser.add_argument("--gpus", type=int, choices=sorted(UNIFIED), action="append",
                        help="number of GPUs; may be given twice (default: 1 and 4)")
    parser.add_argument("--size", choices=SIZES, action="append",
                        help="size class; may be repeated (default: all)")
    parser.add_argument("--rerun", action="store_true",
                        help="run points again that the CSV already has, and compare")
    parser.add_argument("--retry-failed", action="store_true",
                        help="run points again whose row has an error")
    parser.add_argument("--timeout", type=float, default=300, metavar="SECONDS",
                        help="limit of one run in seconds of CPU time; a run that uses none for "
                             "half as long is taken to hang (default: %(default)s)")
    parser.add_argument("--output", type=pathlib.Path,
                        default=REPO / "validation" / f"mgpusim-{VERSION}.csv", metavar="CSV",
                        help="table of results (default: validation/mgpusim-%s.csv); the table "
                             "per unit lies beside it, named -units" % VERSION)
    parser.add_argument("--work", type=pathlib.Path, metavar="FOLDER",
                        default=pathlib.Path(tempfile.gettempdir()) / "mgpusim-reference",
                        help="folder for binaries and for runs, outside the repository "
                             "(default: %(default)s)")
    parser.add_argument("--build", action="store_true", help="build the samples again")
    parser.add_argument("--launches", action="store_true",
                        help="note each launch of the points the CSV has, if a benchmark has "
                             "more than one, in a table beside it, named -launches")
    parser.add_argument("--record", type=pathlib.Path, nargs="?", const=TRACES, metavar="FOLDER",
                        help="record traces of the points the CSV has into this folder; those "
                             "above 1 MB are not kept (default folder: validation/traces)")
    parser.add_argument("--points-of", type=pathlib.Path, metavar="CSV",
                        help="only the points that this table has, too")
    parser.add_argument("--list", action="store_true", help="list the points and stop")
    args = parser.parse_args(argv)
    args.gpus = args.gpus or sorted(UNIFIED)
    args.size = args.size or list(SIZES)
    chosen = args.only.split(",") if args.only else names
    unknown = sorted(set(chosen) - set(names))
    if unknown:
        parser.error(f"unknown benchmark: {', '.join(unknown)}")
    args.only = set(chosen)
    if REPO in args.work.resolve().parents or args.work.resolve() == REPO:
        parser.error("--work must lie outside the repository")
    return args


def main(argv=None):
    args = parse(argv)
    # cheap points first, so that an interrupted run leaves a useful table
    todo = [(size, gpus, bench, params)
            for sizes in ((SMALL, MEDIUM), (LARGE,)) for gpus in args.gpus
            for size in sizes if size in args.size
            for bench, params, of in sorted(POINTS, key=lambda p: p[0] not in FIRST)
            if of == size and bench in args.only]
    if args.points_of:
        known = {key_of(row) for row in load(args.points_of, COLUMNS)}
        todo = [point for point in todo if (point[2], point[3], str(point[1])) in known]
    if args.list:
        for size, gpus, bench, params in todo:
            print(f"{size:6} {gpus} GPU  {bench} {params}")
        return 0
    units_path = args.output.with_name(args.output.stem + "-units.csv")
    rows = {key_of(row): row for row in load(args.output, COLUMNS)}
    units = {}
    for row in load(units_path, UNIT_COLUMNS):
        units.setdefault(key_of(row), []).append(row)
    bin_dir = args.work / "bin"
    if args.record:
        return record(args, todo, rows, bin_dir)
    if args.build or any(not (bin_dir / bench).exists() for _, _, bench, _ in todo):
        build(bin_dir)
    for bench in sorted({bench for _, _, bench, _ in todo}):
        check_version(bin_dir / bench)
    if args.launches:
        if not (bin_dir / "launches").exists():
            build(bin_dir)
        check_version(bin_dir / "launches")
        note_launches(args, todo, rows, bin_dir)
        return 0
    failed = changed = 0
    for number_, (size, gpus, bench, params) in enumerate(todo, 1):
        key = (bench, params, str(gpus))
        name = f"[{number_}/{len(todo)}] {bench} {params}, {gpus} GPU{'s' if gpus > 1 else ''}"
        old = rows.get(key)
        if old and not args.rerun and not (args.retry_failed and old["error"]):
            continue
        print(f"{name} ...", end="", flush=True)
        row, of_units = run_point(bin_dir / bench, params, gpus, args.work, args.timeout)
        row.update(benchmark=bench, parameters=params, gpus=gpus)
        note = row["error"] or f"kernel {float(row['kernel_time_s']) * 1e6:.3f} us"
        failed += bool(row["error"])
        if old and not old["error"] and not row["error"]:
            differ = [c for c in COLUMNS if c not in ("wall_s", "cpu_s", "peak_rss_mb")
                      and str(row.get(c, "")) != old[c]]
            changed += bool(differ)
            note += f"; differs in {', '.join(differ)}" if differ else "; as before"
        print(f" {note}  ({row['wall_s']} s, {row['cpu_s']} s of CPU, "
              f"{row['peak_rss_mb']} MB)", flush=True)
        rows[key] = row
        units[key] = [dict(u, benchmark=bench, parameters=params, gpus=gpus) for u in of_units]
        store(args.output, COLUMNS, rows.values())
        store(units_path, UNIT_COLUMNS, [u for group in units.values() for u in group])
    print(f"{len(rows)} points in {args.output}; failed in this call: {failed}"
          + (f"; changed: {changed}" if args.rerun else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
