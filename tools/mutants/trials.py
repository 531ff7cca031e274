"""Tests, one at a time: how long each takes, which mutants it reaches, and whether it fails with one of them."""

import os
import re
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

MEMORY = 6 << 20
"""KiB that a test may map; chosen: no test of the manager needs a tenth of that."""

TIMES, MORE = 5, 2.0
"""A test may take so many times its time without a mutant, and so many seconds more; chosen."""

FEW = {"PROPTEST_CASES": "2", "OCTAVO_SOAK": "500"}
"""Random cases of a test, unless the environment says so: tests are run thousands of times."""

ALWAYS = {"PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1", "PROPTEST_MAX_SHRINK_ITERS": "0", "RUST_BACKTRACE": "0"}
"""A failing test is to end at once."""


@dataclass
class Test:
    """A test of a program, and what is known about it."""

    program: Path
    folder: Path
    name: str
    seconds: float = 0.0
    reached: frozenset[int] = frozenset()
    tried: int = field(default=0, compare=False)
    failed: int = field(default=0, compare=False)

    def price(self) -> float:
        """Seconds that this test is expected to need for one mutant that it catches, as far as one can tell."""
        return (self.seconds + 0.005) * (self.tried + 2) / (self.failed + 1)

    def measure(self) -> bool:
        """Finds out which mutants the test reaches and how long it takes; whether it succeeds without a mutant."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "reached"
            status, _, self.seconds = run([self], 600, OCTAVO_MUTANTS_REACHED=str(path))
            data = path.read_bytes() if path.exists() else b""
        self.reached = frozenset(number for (number,) in struct.iter_unpack("<I", data))
        return status == 0


def run(tests: list[Test], seconds: int, **switch: str) -> tuple[int, bytes, float]:
    """Runs tests of one program in one process: how it ended, what it wrote, and its processor time in seconds."""
    program, folder = tests[0].program, tests[0].folder
    limits = f'ulimit -t {seconds} -v {MEMORY} -c 0 && exec "$@"'
    began = subprocess.Popen(
        ["bash", "-c", limits, "-", program, *(test.name for test in tests), "--exact", "--test-threads=1"],
        cwd=folder,
        env={**FEW, **os.environ, **ALWAYS, "CARGO_MANIFEST_DIR": str(folder), **switch},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with began:
        output = began.stdout.read() if began.stdout else b""
        # Processor time, as others on the machine do not change it.
        _, status, usage = os.wait4(began.pid, 0)
        began.returncode = os.waitstatus_to_exitcode(status)
    return began.returncode, output, usage.ru_utime + usage.ru_stime


def tests_of(programs: list[tuple[Path, Path]], skipped: list[str]) -> Iterator[Test]:
    """All tests of some programs that are not left out, and are not for other occasions."""
    for program, folder in programs:
        ignored = set(listed(program, folder, "--ignored"))
        for name in listed(program, folder):
            if name not in ignored and not any(word in name for word in skipped):
                yield Test(program, folder, name)


def listed(program: Path, folder: Path, *which: str) -> list[str]:
    """Names of the tests of a program."""
    command = [program, "--list", "--format", "terse", *which]
    lines = subprocess.run(command, check=True, cwd=folder, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return [line.removesuffix(": test") for line in lines if line.endswith(": test")]


def first_to_catch(tests: list[Test], mutant: int) -> str | None:
    """A test that fails with a mutant, if there is one: those that are quick and often fail are tried first."""
    left = sorted((test for test in tests if mutant in test.reached), key=Test.price)
    size = 1
    while left:
        for program in sorted({test.program for test in left[:size]}):
            if name := catching([test for test in left[:size] if test.program == program], mutant):
                return name
        # One process for more and more of them: most mutants that are caught at all are caught by the first.
        left, size = left[size:], size * 2
    return None


def catching(tests: list[Test], mutant: int) -> str | None:
    """Which of some tests of one program fails with a mutant, or does not end."""
    seconds = sum(test.seconds for test in tests)
    status, output, _ = run(tests, int(seconds * TIMES + MORE) + 1, OCTAVO_MUTANT=str(mutant))
    found = re.search(rb"^test (\S+)(?: - should panic)? \.\.\. FAILED", output, re.MULTILINE)
    name = found[1].decode() if found else tests[0].name if len(tests) == 1 else f"one of {len(tests)} tests"
    for test in tests:
        test.tried += 1
        test.failed += status != 0 and test.name == name
    return name if status else None
