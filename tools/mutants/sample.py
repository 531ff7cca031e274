"""Breaks lines drawn at random, one at a time, and keeps which of them no test catches: `make mutants`.

All mutants of a package stand in one order that depends on the seed alone. So the first N are a random sample for any
N, and a larger N goes on where a smaller one ended. Groups that are finished are not run again.
"""

import argparse
import random
import re
import subprocess
import sys
from pathlib import Path

GROUP = 5
"""Mutants of one run of cargo-mutants, and what is lost if it is killed; chosen."""

OUTCOMES = ("caught", "missed", "timeout", "unviable")


def main() -> int:
    """Runs the groups that are missing, and says what they found."""
    options = parse()
    drawn = draw(listed(options), options.seed)[: options.sample]
    groups = [drawn[first : first + GROUP] for first in range(0, len(drawn), GROUP)]
    for number, group in enumerate(groups):
        run(options, group, options.output / f"{options.seed}-{number:03}")
    return report(options, drawn)


def parse() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, usage="%(prog)s PACKAGE [options] [-- for cargo mutants]")
    parser.add_argument("package", help="for example octavo-manager")
    parser.add_argument("--file", action="append", default=[], help="only files of this pattern")
    parser.add_argument("--skip", action="append", default=[], help="tests that are too slow to be run for each")
    parser.add_argument("--seed", type=int, default=19)
    parser.add_argument("--sample", type=int, default=60, help="mutants")
    parser.add_argument("--output", type=Path, required=True)
    own, passed = split(sys.argv[1:])
    options = parser.parse_args(own)
    options.passed = passed
    return options


def split(words: list[str]) -> tuple[list[str], list[str]]:
    """What is for this command, and what stands after a -- and is for cargo-mutants."""
    end = words.index("--") if "--" in words else len(words)
    return words[:end], words[end + 1 :]


def chosen(options: argparse.Namespace) -> list[str]:
    """What says to cargo-mutants which package and files are meant."""
    return ["--package", options.package, *(f"--file={pattern}" for pattern in options.file)]


def listed(options: argparse.Namespace) -> list[str]:
    """Names of all mutants, with their places."""
    found = subprocess.run(
        ["cargo", "mutants", "--list", *chosen(options)], check=True, stdout=subprocess.PIPE, text=True
    )
    return sorted(found.stdout.splitlines())


def draw(names: list[str], seed: int) -> list[str]:
    """The names in an order that depends on the seed alone."""
    return random.Random(seed).sample(names, len(names))  # noqa: S311 (not for secrets)


def run(options: argparse.Namespace, group: list[str], folder: Path) -> None:
    """Runs a group, unless its outcomes are there."""
    if (folder / "finished").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"--re=^{re.escape(name)}$" for name in group]
    skipped = [word for test in options.skip for word in ("--skip", test)]
    command = ["cargo", "mutants", *chosen(options), "--output", str(folder), *options.passed, *names]
    # Missed mutants are no failure of this command; they are what it looks for.
    status = subprocess.run([*command, "--", "--tests", "--", *skipped], check=False).returncode
    if status in (0, 2, 3):
        (folder / "finished").touch()
    else:
        sys.exit(f"cargo mutants ended with {status}: {folder}")


def report(options: argparse.Namespace, drawn: list[str]) -> int:
    """Says how many of each outcome there are, and names what was missed or took too long."""
    outcomes = {outcome: outcome_lines(options, outcome) for outcome in OUTCOMES}
    counts = ", ".join(f"{len(lines)} {outcome}" for outcome, lines in outcomes.items())
    print(f"{options.package}, seed {options.seed}, {len(drawn)} drawn: {counts}")
    for outcome in ("missed", "timeout"):
        for line in outcomes[outcome]:
            print(f"{outcome}: {line}")
    return 0


def outcome_lines(options: argparse.Namespace, outcome: str) -> list[str]:
    """Names of the mutants with this outcome, from all groups."""
    folders = sorted(options.output.glob(f"{options.seed}-*"))
    files = [folder / "mutants.out" / f"{outcome}.txt" for folder in folders]
    return [line for file in files if file.exists() for line in file.read_text().splitlines()]


if __name__ == "__main__":
    sys.exit(main())
