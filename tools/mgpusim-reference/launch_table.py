"""The mode --launches: when each kernel of a sample began, and what came before it."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import binaries
import process
from points import SEVERAL_LAUNCHES, UNIFIED
from tables import LAUNCH_COLUMNS, Row, load_groups, store_groups

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from points import Point
    from results import Results

COPIES = ("MemCopyH2D", "MemCopyD2H")


def note_launches(arguments: argparse.Namespace, todo: list[Point], results: Results) -> None:
    """Run points with several launches by the program that notes them, and keep those that agree with the results."""
    folder = arguments.work / "bin"
    binaries.ready(folder, {binaries.LAUNCHES}, again=arguments.build)
    path = arguments.output.with_name(arguments.output.stem + "-launches.csv.xz")
    table = load_groups(path, LAUNCH_COLUMNS)
    todo = [point for point in todo if point.benchmark in SEVERAL_LAUNCHES]
    for number, point in enumerate(todo, 1):
        known = results.rows.get(point.key)
        if (point.key in table and not arguments.rerun) or not known or known["error"]:
            continue
        print(f"[{number}/{len(todo)}] launches of {point} ...", end="", flush=True)
        options = ["-benchmark", point.benchmark, "-commands", "commands.csv", "-timing", "-disable-rtm"]
        program = process.Program(
            folder / binaries.LAUNCHES,
            [*options, *UNIFIED[point.gpus], *point.parameters.split()],
            arguments.work,
            arguments.timeout,
        )
        row, launches = process.run(program, lambda run: launch_rows(run / "commands.csv"))
        if row["error"]:
            print(f" {row['error']}", flush=True)
            continue
        total = sum(launch["cycles"] for launch in launches)
        expected = round(float(known["kernel_time_s"]) * 1e9)
        agrees = "" if total == expected else f" BUT {expected} in the table of results"
        print(f" {len(launches)} launches, {total} cycles{agrees}", flush=True)
        if total == expected:
            named = {"benchmark": point.benchmark, "parameters": point.parameters, "gpus": point.gpus}
            table[point.key] = [launch | named for launch in launches]
            store_groups(path, LAUNCH_COLUMNS, table)


def launch_rows(path: Path) -> list[Row]:
    """Rows of the table from what the program wrote."""
    rows: list[Row] = []
    flushes, lines = 0, dict.fromkeys(COPIES, 0)
    with path.open(newline="", encoding="utf-8") as file:
        for command in csv.DictReader(file):
            flushes += int(command["flushes"])
            if command["command"] in lines:
                lines[command["command"]] += int(command["lines"])
            if "Launch" not in command["command"]:
                continue
            begin, end = int(command["begin"]), int(command["end"])
            rows.append(
                {
                    "launch": len(rows) + 1,
                    "kernel": command["kernel"],
                    "grid": command["grid"],
                    "group": command["group"],
                    "begin_cycle": begin,
                    "cycles": end - begin,
                    "flushes_before": flushes,
                    "h2d_lines_before": lines["MemCopyH2D"],
                    "d2h_lines_before": lines["MemCopyD2H"],
                }
            )
            flushes, lines = 0, dict.fromkeys(COPIES, 0)
    return rows
