#!/usr/bin/env python3
"""Transforms all CUDA files of checkouts, writes nothing, and prints how many are understood, and why others are not.

Usage: rate.py [--list] [-I DIR]... CHECKOUT...

Made for Rodinia (github.com/yuhc/gpu-rodinia), UVM_benchmark (github.com/OSU-STARLAB/UVM_benchmark) and the CUDA
samples (github.com/NVIDIA/cuda-samples). Counted are files `*.cu` in which an allocation of the CUDA runtime is called,
outside of comments:

parsed    all code of the host parses
read      no allocation is left because something does not parse
changed   at least one buffer asks for its placement
"""

from __future__ import annotations

import argparse
import os
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from octavo.errors import OctavoError
from octavo.transform import transform

_ALLOCATES = re.compile(rb"\bcuda(?:Malloc|HostAlloc)\w*\s*\(")
_COMMENT = re.compile(rb"/\*.*?\*/|//[^\n]*", re.DOTALL)
_UNREAD = re.compile(r"does not parse|do not parse")
_CALLS = ("cudaMalloc", "cudaHostAlloc")


@dataclass
class Outcome:
    """What became of one file."""

    path: Path
    parsed: bool = False
    changed: bool = False
    unread: set[str] = field(default_factory=set)
    """Why allocations were left that would have to parse."""
    left: set[str] = field(default_factory=set)
    """Why other allocations were left."""


def outcome(path: Path, include: list[Path]) -> Outcome:
    """The result for one file."""
    try:
        result = transform(path, include=include)
    except OctavoError as error:
        lines = error.message.splitlines()
        return Outcome(path, unread={_general(lines[1] if len(lines) > 1 else lines[0])})
    allocations = [each for each in result.skipped if each.call.startswith(_CALLS)]
    reasons = {each.why for each in allocations}
    unread = {_general(why) for why in reasons if _UNREAD.search(why)}
    left = {_general(why) for why in reasons if not _UNREAD.search(why)}
    return Outcome(path, not result.unread, result.changed, unread, left)


def _general(why: str) -> str:
    """A reason without its place and without names, so that equal ones are counted together."""
    why = re.sub(r"^\S+:\d+:\d+: ", "", re.sub(r" \(line \d+\)$", "", why))
    return re.sub(r"`[^`]*`", "`…`", why)


def files(checkout: Path) -> list[Path]:
    """CUDA files with an allocation."""
    return [
        path
        for path in sorted(checkout.rglob("*.cu"))
        if path.is_file() and _ALLOCATES.search(_COMMENT.sub(b"", path.read_bytes()))
    ]


def report(name: str, found: list[Outcome]) -> None:
    """One line: of how many files how many are parsed, read and changed."""
    total = len(found)
    counts = [sum(each.parsed for each in found), sum(not each.unread for each in found)]
    counts.append(sum(each.changed for each in found))
    cells = "".join(f"{count:>6} {count / total if total else 0:>6.1%}" for count in counts)
    print(f"{name:<30}{total:>6}{cells}")


def main() -> None:
    """Print the rates, then the reasons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", nargs="+", type=Path, metavar="CHECKOUT")
    parser.add_argument("-I", dest="include", action="append", default=[], type=Path, metavar="DIR")
    parser.add_argument("--list", action="store_true", help="name the files that are not read")
    given = parser.parse_args()
    every: list[Outcome] = []
    print(f"{'checkout':<30}{'files':>6}{'parsed':>13}{'read':>13}{'changed':>13}")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for checkout in given.checkout:
            found = list(pool.map(lambda path: outcome(path, given.include), files(checkout)))
            report(checkout.name, found)
            every += found
    report("all", every)
    for title, kind in (("does not parse", "unread"), ("left for another reason", "left")):
        print(f"\nFiles with an allocation that {title}:")
        counts = Counter(why for each in every for why in getattr(each, kind))
        for why, times in sorted(counts.items(), key=lambda each: (-each[1], each[0])):
            print(f"{times:>6}  {why}")
    if given.list:
        print("\nNot read:", *(each.path for each in every if each.unread), sep="\n")


if __name__ == "__main__":
    main()
