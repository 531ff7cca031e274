"""Breaks every line of a package, one at a time, and keeps which of these mutants no test catches: `make mutants`.

cargo-mutants lists the mutants. All of them are compiled into one build, each behind a switch. Every test runs once
alone, which says which mutants it reaches; then each mutant is switched on for the tests that reach it. What is done
is kept in the folder, and is not done again.
"""

import argparse
import csv
import json
import math
import random
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypedDict

from build import Schemata
from schemata import Mutant
from trying import Test, first_to_catch, tests_of

COLUMNS = ("file", "line", "mutant", "outcome", "verdict", "note")

LISTED = ("missed", "unreached", "constant", "cannot be switched")
"""Outcomes that need a verdict."""


class Found(TypedDict):
    """What became of a mutant that was tried."""

    mutant: str
    by: str | None
    tests: list[str]
    """Packages whose tests were run."""
    reached: bool


def main() -> int:
    """Builds, measures the tests, tries the mutants, and says what was found."""
    options = parse()
    options.folder = options.output.resolve() / options.commit[:12]
    options.folder.mkdir(parents=True, exist_ok=True)
    schemata = Schemata(options.folder, options.commit, options.package, options.file)
    schemata.compile()
    drawn = draw(schemata.mutants(), options)
    for package in options.tests or [options.package]:
        tests = measured(options, schemata, package)
        try_all(options, [one for one in drawn if not one.left_out], tests, package)
    return report(options, drawn)


def parse() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", help="for example octavo-manager")
    parser.add_argument("--file", action="append", default=[], help="only files of this pattern")
    parser.add_argument("--tests", action="append", help="packages whose tests are run, in turn; the package itself")
    parser.add_argument("--skip", action="append", default=[], help="tests that are too slow to be run for each mutant")
    parser.add_argument("--slowest", type=float, default=math.inf, help="seconds a test may take; any")
    parser.add_argument("--again", action="store_true", help="try again what these tests did not catch")
    parser.add_argument("--names", type=Path, help="a table with the mutants that are meant: the column mutant")
    parser.add_argument("--seed", type=int, default=19, help="of the order of mutants")
    parser.add_argument("--sample", type=int, help="so many mutants; all")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time; 2")
    parser.add_argument("--commit", type=commit, default="HEAD", help="what is tested; HEAD")
    parser.add_argument(
        "--output",
        type=Path,
        required=True,
        help="a folder of the commit's name goes there: the build, and what was found",
    )
    parser.add_argument("--table", type=Path, help="survivors, with their verdicts: those that stand there are kept")
    return parser.parse_args()


def commit(name: str) -> str:
    """The number of a commit."""
    wanted = ["git", "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"]
    found = subprocess.run(wanted, check=False, stdout=subprocess.PIPE, text=True).stdout.strip()
    if not found:
        raise argparse.ArgumentTypeError(f"{name} is no commit")
    return found


def draw(mutants: list[Mutant], options: argparse.Namespace) -> list[Mutant]:
    """The mutants that are meant. The first of an order that depends on the seed alone are a random sample."""
    if options.names:
        with options.names.open(newline="") as table:
            names = {row["mutant"] for row in csv.DictReader(table)}
        mutants = [mutant for mutant in mutants if named(mutant)[2] in names or mutant.name in names]
    ordered = sorted(mutants, key=lambda mutant: mutant.name)
    drawn = random.Random(options.seed).sample(ordered, len(ordered))  # noqa: S311 (not for secrets)
    return drawn[: options.sample]


def measured(options: argparse.Namespace, schemata: Schemata, package: str) -> list[Test]:
    """The tests of a package, with what is known about them."""
    programs = schemata.programs(package)
    tests = list(tests_of(programs, options.skip))
    kept = options.folder / f"tests-{package}.jsonl"
    known = {found["test"]: found for found in map(json.loads, lines_of(kept))}
    unknown = [test for test in tests if key_of(test) not in known]
    with kept.open("a") as file, ThreadPoolExecutor(options.jobs) as pool:
        for test, succeeds in zip(unknown, pool.map(Test.measure, unknown), strict=True):
            print(f"{test.seconds:.2f} s {test.name}", flush=True)
            found = {"test": key_of(test), "seconds": test.seconds, "succeeds": succeeds}
            known[key_of(test)] = {**found, "reached": sorted(test.reached)}
            file.write(json.dumps(known[key_of(test)]) + "\n")
            file.flush()
    for test in tests:
        test.seconds, test.reached = known[key_of(test)]["seconds"], frozenset(known[key_of(test)]["reached"])
    failing = [test.name for test in tests if not known[key_of(test)]["succeeds"]]
    if failing:
        sys.exit(f"these fail without a mutant: {', '.join(failing)}")
    slow = [test for test in tests if test.seconds > options.slowest]
    names = ", ".join(test.name for test in slow) or "none"
    print(f"{package}: {len(tests) - len(slow)} tests; left out as slow: {names}", flush=True)
    return [test for test in tests if test not in slow]


def key_of(test: Test) -> str:
    """What a test is kept under."""
    return f"{test.program.name} {test.name}"


def try_all(options: argparse.Namespace, mutants: list[Mutant], tests: list[Test], package: str) -> None:
    """Tries the mutants that no earlier test caught, and keeps each outcome at once."""
    kept = results_of(options)
    done = {name for name, found in kept.items() if found["by"] or (package in found["tests"] and not options.again)}
    left = [mutant for mutant in mutants if mutant.name not in done]
    reached = frozenset().union(*(test.reached for test in tests))
    with results_path(options).open("a") as results, ThreadPoolExecutor(options.jobs) as pool:

        def attempt(mutant: Mutant) -> Found:
            tried = kept.get(mutant.name, Found(mutant=mutant.name, by=None, tests=[], reached=False))
            return {
                "mutant": mutant.name,
                "by": first_to_catch(tests, mutant.number),
                "tests": [*tried["tests"], package],
                "reached": tried["reached"] or mutant.number in reached,
            }

        for number, found in enumerate(pool.map(attempt, left)):
            results.write(json.dumps(found) + "\n")
            results.flush()
            if number % 100 == 99:
                print(f"{package}: {number + 1} of {len(left)} mutants tried", flush=True)


def results_path(options: argparse.Namespace) -> Path:
    """Where the outcomes are kept."""
    return Path(options.folder / "results.jsonl")


def results_of(options: argparse.Namespace) -> dict[str, Found]:
    """The last outcome of each mutant."""
    return {found["mutant"]: found for found in map(json.loads, lines_of(results_path(options)))}


def lines_of(path: Path) -> list[str]:
    """The lines of a file, if it is there."""
    return path.read_text().splitlines() if path.exists() else []


def outcome(mutant: Mutant, results: dict[str, Found]) -> str:
    """What became of a mutant."""
    if mutant.left_out:
        return mutant.left_out.split(":")[0]
    found = results.get(mutant.name)
    if found is None:
        return "not tried"
    return "caught" if found["by"] else "missed" if found["reached"] else "unreached"


def named(mutant: Mutant) -> tuple[str, int, str]:
    """File, line, and what is changed there, with its column."""
    file, line, column, change = mutant.name.split(":", 3)
    return file, int(line), f"{column}:{change}"


def report(options: argparse.Namespace, drawn: list[Mutant]) -> int:
    """Says how many of each outcome there are, and writes the table of those that survived."""
    results = results_of(options)
    outcomes = {mutant.name: outcome(mutant, results) for mutant in drawn}
    counts = ", ".join(f"{count} {what}" for what, count in Counter(outcomes.values()).most_common())
    print(f"{options.package}, commit {options.commit[:12]}, {len(drawn)} mutants: {counts}")
    if options.table:
        write_table(options.table, [one for one in drawn if outcomes[one.name] in LISTED], outcomes)
    return 0


def write_table(path: Path, survivors: list[Mutant], outcomes: dict[str, str]) -> None:
    """Writes survivors in order of their places, with the verdicts that the table has already."""
    verdicts = {}
    if path.exists():
        with path.open(newline="") as table:
            verdicts = {(row["file"], row["line"], row["mutant"]): row for row in csv.DictReader(table)}
    with path.open("w", newline="") as table:
        writer = csv.DictWriter(table, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for file, line, change, name in sorted((*named(mutant), mutant.name) for mutant in survivors):
            old = verdicts.get((file, str(line), change), {})
            said = {key: old.get(key, "") for key in ("verdict", "note")}
            writer.writerow({"file": file, "line": line, "mutant": change, "outcome": outcomes[name], **said})


if __name__ == "__main__":
    sys.exit(main())
