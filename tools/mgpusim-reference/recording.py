"""The mode --record: a trace of every chosen point that has a result."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import binaries
from points import trace_name

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

    from points import Point
    from results import Results

LARGEST_TRACE = 1_000_000  # bytes


def record(arguments: argparse.Namespace, todo: list[Point], results: Results) -> int:
    """Record what is missing, or everything again; returns how many recordings failed."""
    recorder = binaries.build_recorder(arguments.work / "bin")
    todo = [point for point in todo if point.key in results.rows]
    failed, large = 0, []
    for number, point in enumerate(todo, 1):
        path = arguments.record / trace_name(point.benchmark, point.parameters, point.gpus)
        if path.exists() and not arguments.rerun:
            continue
        print(f"[{number}/{len(todo)}] {path.name} ...", end="", flush=True)
        error = record_one(recorder, path, words_of(point))
        if error:
            failed += 1
            print(f" {error}", flush=True)
            continue
        size = sum(file.stat().st_size for file in path.iterdir())
        too_large = size > LARGEST_TRACE
        if too_large:
            large.append(path.name)
            shutil.rmtree(path)
        print(f" {size / 1000:.0f} kB{', too large to keep' if too_large else ''}", flush=True)
    left_out = f"; too large: {', '.join(large)}" if large else ""
    print(f"{len(list(arguments.record.glob('*.trace')))} traces in {arguments.record}; failed: {failed}{left_out}")
    return failed


def words_of(point: Point) -> list[str]:
    """What tells the recorder to run a point."""
    return ["-benchmark", point.benchmark, "-gpus", str(point.gpus), "--", *point.parameters.split()]


def record_one(recorder: Path, path: Path, words: Sequence[str]) -> str:
    """Record one trace; returns what went wrong, or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    command = [str(recorder), "-quiet", "-force", "-o", path.name, *words]
    done = subprocess.run(command, cwd=path.parent, text=True, capture_output=True, check=False)
    return done.stderr.strip()[-300:] or "failed" if done.returncode else ""
