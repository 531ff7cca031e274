#!/usr/bin/env python3
"""Runs the stock samples of MGPUSim v4.2.0 in timing mode and caches what they report.

Each point is one run of one sample program, built from the released module
(see go.mod beside this file), on one GPU or on four unified GPUs, without
unified memory. The sums over all units of a kind go to
validation/mgpusim-v4.2.0.csv, the same metrics per GPU and kind of unit to
validation/mgpusim-v4.2.0-units.csv.xz; validation/README.md explains the columns.
With --launches it runs the samples that launch more than one kernel a second
time, by a program that also notes each launch, for
validation/mgpusim-v4.2.0-launches.csv.xz. With --record it records what these
points execute with tools/mgpusim-trace, for validation/traces.

Points of one's own need no change of this script:

  reference.py --point "fir -length 5000 -taps 7" --gpus 1 --output mine/mgpusim-v4.2.0.csv

A point that is already in the CSV is not run again unless --rerun is given.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from binaries import REPOSITORY, VERSION
from launch_table import note_launches
from points import SAMPLES, SIZES, UNIFIED, Point, choose, own
from recording import record
from results import Results, run_points
from tables import COLUMNS, key_of, load

TRACES = REPOSITORY / "validation" / "traces"


def main() -> int:
    """Do what the command line says."""
    arguments = parse()
    todo = own(arguments.point, arguments.gpus) or choose(arguments.only, arguments.gpus, arguments.size)
    if arguments.points_of:
        known = {key_of(row) for row in load(arguments.points_of, COLUMNS)}
        todo = [point for point in todo if point.key in known]
    if arguments.list:
        show(todo)
        return 0
    results = Results.load(arguments.output)
    if arguments.record:
        return 1 if record(arguments, todo, results) else 0
    if arguments.launches:
        note_launches(arguments, todo, results)
        return 0
    failed = run_points(arguments, todo, results)
    # Of many points some may fail; whoever names one wants that one.
    return 1 if arguments.point and failed else 0


def show(todo: list[Point]) -> None:
    """List points."""
    for point in todo:
        print(f"{point.size:6} {point.gpus} GPU  {point.benchmark} {point.parameters}")


def parse() -> argparse.Namespace:
    """Read the command line and check what it says."""
    about, *more = (__doc__ or "").split("\n\n")
    parser = argparse.ArgumentParser(
        description=about, epilog="\n\n".join(more), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_choices(parser)
    add_modes(parser)
    add_folders(parser)
    arguments = parser.parse_args()
    check_points(parser, arguments)
    arguments.gpus = arguments.gpus or sorted(UNIFIED)
    arguments.size = arguments.size or list(SIZES)
    arguments.only = set(arguments.only.split(",")) if arguments.only else set(SAMPLES)
    unknown = sorted(arguments.only - set(SAMPLES))
    if unknown:
        parser.error(f"unknown benchmark: {', '.join(unknown)}")
    work = arguments.work.resolve()
    if REPOSITORY in work.parents or work == REPOSITORY:
        parser.error("--work must lie outside the repository")
    return arguments


def check_points(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Points of one's own stand alone, and name samples."""
    if arguments.point and (arguments.only or arguments.size or arguments.points_of):
        parser.error("--point names what to run; leave out --only, --size and --points-of")
    try:
        own(arguments.point, [1])
    except ValueError as error:
        parser.error(str(error))


def add_choices(parser: argparse.ArgumentParser) -> None:
    """Which points."""
    add = parser.add_argument
    add("--only", metavar="NAMES", help=f"benchmarks, separated by commas, of: {', '.join(sorted(SAMPLES))}")
    add(
        "--gpus",
        type=int,
        choices=sorted(UNIFIED),
        action="append",
        help="number of GPUs; may be given twice (default: 1 and 4)",
    )
    add("--size", choices=SIZES, action="append", help="size class; may be repeated (default: all)")
    add(
        "--point",
        action="append",
        default=[],
        metavar="TEXT",
        help='a point of your own, as "fir -length 5000 -taps 7": the sample and its flags; may be repeated',
    )
    add("--points-of", type=Path, metavar="CSV", help="only the points that this table has, too")
    add("--list", action="store_true", help="list the points and stop")


def add_modes(parser: argparse.ArgumentParser) -> None:
    """What to do with them."""
    add = parser.add_argument
    add("--rerun", action="store_true", help="run points again that the CSV already has, and compare")
    add("--retry-failed", action="store_true", help="run points again whose row has an error")
    add("--build", action="store_true", help="build the samples again")
    add(
        "--launches",
        action="store_true",
        help="note each launch of the points the CSV has, if a benchmark has more than one, in a table beside it, "
        "named -launches",
    )
    add(
        "--record",
        type=Path,
        nargs="?",
        const=TRACES,
        metavar="FOLDER",
        help="record traces of the points the CSV has into this folder; those above 1 MB are not kept (default "
        "folder: validation/traces)",
    )
    add(
        "--timeout",
        type=float,
        default=300,
        metavar="SECONDS",
        help="limit of one run in seconds of CPU time; a run that uses none for half as long is taken to hang "
        "(default: %(default)s)",
    )


def add_folders(parser: argparse.ArgumentParser) -> None:
    """Where tables and runs lie."""
    name = f"mgpusim-{VERSION}.csv"
    parser.add_argument(
        "--output",
        type=Path,
        default=REPOSITORY / "validation" / name,
        metavar="CSV",
        help=f"table of results (default: validation/{name}); the table per unit lies beside it, named -units",
    )
    parser.add_argument(
        "--work",
        type=Path,
        metavar="FOLDER",
        default=Path(tempfile.gettempdir()) / "mgpusim-reference",
        help="folder for binaries and for runs, outside the repository (default: %(default)s)",
    )


if __name__ == "__main__":
    sys.exit(main())
