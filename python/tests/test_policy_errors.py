"""What a policy does wrong ends in a message that names it, the method, what was expected, and the fault."""

from __future__ import annotations

import re
import signal
import subprocess
import sys

import pytest
from conftest import refused

import octavo

HEAD = "from octavo.policies import *\n\n"
ON_FAULT = "class Mine(PlacementPolicy):\n    def on_fault(self, fault, page):\n        "
COUNTER = (
    "\n    def needs(self):\n        return Needs(counter_threshold=16)\n"
    "    def on_counter(self, notification, page):\n        "
)
REPORT = "\n    def needs(self):\n        return Needs(report_cycles=2000)\n    def on_report(self, counts):\n        "
PREFETCH = "class Mine(PrefetchPolicy):\n    def pages(self, service):\n        "
EVICTION = "class Mine(EvictionPolicy):\n    def victims(self, processor, wanted):\n        "

NONSENSE = {
    "no decision": (ON_FAULT + "return 3", "on_fault returned 3, expected a Decision such as Decision.MIGRATE"),
    "nothing": (ON_FAULT + "pass", "on_fault returned None, expected a Decision"),
    "a processor that does not exist": (
        ON_FAULT + "return Decision.at(4)",
        "on_fault returned Decision.at(4), expected Decision.at of a processor: a GPU from 0 to 3, or HOST",
    ),
    "a page that was not asked about": (
        ON_FAULT + "return Decision.MAP_REMOTE" + COUNTER + "return 10**6",
        "on_counter returned page 1000000, expected None, a page or a range of pages of the counter's group (",
    ),
    "pages that were not asked about": (
        ON_FAULT + "return Decision.MAP_REMOTE" + COUNTER + "return range(10**6)",
        "on_counter returned page 999999, expected None, a page or a range of pages of the counter's group (",
    ),
    "a truth value for a page": (
        ON_FAULT + "return Decision.MAP_REMOTE" + COUNTER + "return True",
        "on_counter returned True, expected None, a page",
    ),
    "a move of nothing": (
        ON_FAULT + "return Decision.MAP_REMOTE" + REPORT + "return [Move(10**9, 0)]",
        "on_report returned Move(1000000000, to=0), expected a Move of a page of an allocation",
    ),
    "a move to nowhere": (
        ON_FAULT + "return Decision.MAP_REMOTE" + REPORT + "return [Move(counts[0].page, -2)]",
        "expected a Move to a processor: a GPU from 0 to 3, or HOST",
    ),
    "no moves": (
        ON_FAULT + "return Decision.MAP_REMOTE" + REPORT + "return counts",
        "on_report returned AccessCount(",
    ),
    "a truth value that is none": (
        ON_FAULT + "return Decision.MIGRATE\n    def may_prefetch(self, page):\n        return 'yes'",
        "may_prefetch returned 'yes', expected True or False",
    ),
    "no needs": (
        ON_FAULT + "return Decision.MIGRATE\n    def needs(self):\n        return 256",
        "needs returned 256, expected a Needs",
    ),
    "pages of another block": (
        PREFETCH + "return [service.block.stop]",
        "expected pages of the faults' block (",
    ),
    "no pages": (PREFETCH + "return 7", "pages returned 7, expected an iterable of page numbers"),
    "words for pages": (PREFETCH + "return 'abc'", "pages returned 'a', expected pages of the faults' block"),
    "no victims": (EVICTION + "return None", "victims returned None, expected an iterable of page numbers"),
    "victims that do not exist": (
        EVICTION + "return [-1]",
        "victims returned page -1, expected pages of an allocation",
    ),
    "victims that are not there": (
        EVICTION + "return [next(p for p in range(10**6) if not self.residency.holds(processor, p))]",
        "expected pages",
    ),
    "victims named twice": (
        EVICTION + "return [next(p for p in range(10**6) if self.residency.evictable(processor, p))] * 2",
        " twice, expected each page once",
    ),
}
KINDS = {PREFETCH: "--prefetch", EVICTION: "--eviction", ON_FAULT: "--placement"}


@pytest.fixture
def run(cli, tmp_path):
    def run(body: str, *arguments: str):
        (tmp_path / "mine.py").write_text(HEAD + body + "\n")
        kind = next(option for head, option in KINDS.items() if body.startswith(head))
        more = ["--prefetch", "sequential-local"] if kind == "--placement" and "may_prefetch" in body else []
        full = ["--set", "node.capacity.footprint_percent=10"] if kind == "--eviction" else []
        return cli("run", "-w", "stencil2d", "-s", "0.01", kind, "mine.py", *more, *full, *arguments)

    return run


@pytest.mark.parametrize("case", NONSENSE)
def test_nonsense_is_refused(case, run, tmp_path):
    body, expected = NONSENSE[case]
    done = run(body)
    assert done.returncode == 2, done.stderr
    assert expected in done.stderr
    assert re.search(r"error: stencil2d .*: (placement|prefetch|eviction) `mine.py:Mine`: ", done.stderr)
    assert re.search(r"asked about .* at \d", done.stderr)
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("runs/*/*"))


RAISES = ON_FAULT + "return Decision.MIGRATE if fault.page < 40 else [][fault.page]"


def test_an_exception_ends_the_run_with_its_traceback_and_its_fault(run):
    done = run(RAISES)
    assert done.returncode == 2
    about = re.search(
        r"placement `mine\.py:Mine`: on_fault raised IndexError: list index out of range, asked about a (read|write) "
        r"fault of gpu\d on page (\d+) \(address (0x[0-9a-f]+) in `\w+`\) at \d+(\.\d+)?[pnum]?s",
        done.stderr,
    )
    assert about, done.stderr
    assert int(about[3], 16) == int(about[2]) * 4096
    assert "Traceback (most recent call last):" in done.stderr
    assert re.search(r'File ".*mine.py", line 5, in on_fault\n +return Decision.MIGRATE if', done.stderr)
    assert "octavo/" not in done.stderr.split("Traceback")[1]


def test_an_eviction_failure_names_the_fault_that_needed_room(run):
    done = run(EVICTION + "raise ValueError('which one?')")
    assert re.search(
        r"victims raised ValueError: which one\?, asked about .* of gpu\d on page \d+ \(address", done.stderr
    )


def test_from_python_the_exception_is_the_cause(tmp_path):
    (tmp_path / "mine.py").write_text(HEAD + RAISES + "\n")
    with refused("bad-policy", octavo.PolicyError) as caught:
        octavo.run(workload="stencil2d", scale=0.01, placement=tmp_path / "mine.py")
    assert isinstance(caught.value.__cause__, IndexError)
    assert "in on_fault" in caught.value.details


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("def start(self):\n        1 / 0", "start raised ZeroDivisionError: division by zero, asked about the node"),
        ("def __init__(self):\n        1 / 0", "__init__ raised ZeroDivisionError"),
        (
            "def needs(self):\n        return Needs(counter_threshold=0)",
            "counter_threshold: expected 1 to 65535 lines, found 0",
        ),
        ("def on_allocate(self, pages):\n        raise KeyError(pages)", "on_allocate raised KeyError: range(0, "),
        ("def on_kernel_end(self):\n        return [Unsubscribe(0, [9])]", "expected an Unsubscribe of a processor"),
    ],
)
def test_other_methods_fail_as_clearly(body, expected, run):
    done = run(ON_FAULT + "return Decision.MIGRATE\n    " + body)
    assert done.returncode == 2
    assert expected in done.stderr


def test_the_memory_is_lent_for_a_call_only(run):
    body = ON_FAULT + "return Decision.MIGRATE\n    def __init__(self):\n        self.memory.allocated(0)"
    assert "the memory can be looked at only while a method" in run(body).stderr
    done = run(ON_FAULT + "self.memory.page(10**6)")
    assert "page 1000000 is not part of an allocation" in done.stderr


FILES = {
    "no file": (None, "mine.py", "cannot read mine.py: No such file or directory"),
    "no Python": ("class", "mine.py", "mine.py cannot be loaded: line 1: SyntaxError"),
    "a broken module": ("x = 1\ny = nothing\n", "mine.py", "mine.py cannot be loaded: line 2: NameError"),
    "no policy": ("x = 1\n", "mine.py", "mine.py has no complete class derived from PlacementPolicy"),
    "another kind": (HEAD + PREFETCH + "return ()", "mine.py", "derived from PlacementPolicy, only Mine"),
    "another kind by name": (HEAD + PREFETCH + "return ()", "mine.py:Mine", "mine.py:Mine is not a PlacementPolicy"),
    "an unknown class": (
        HEAD + ON_FAULT + "pass",
        "mine.py:Yours",
        "mine.py has no class `Yours` of a policy or a workload, only Mine",
    ),
    "two classes": (
        HEAD + ON_FAULT + "pass\nclass Other(Mine):\n    pass",
        "mine.py",
        "several classes derived from PlacementPolicy: expected one of mine.py:Mine, mine.py:Other",
    ),
    "a missing method": (HEAD + "class Mine(PlacementPolicy):\n    pass", "mine.py:Mine", "has no method on_fault"),
    "an unknown module": (None, "nothing.at.all:Mine", "module nothing.at.all cannot be loaded: ModuleNotFoundError"),
    "an object of another session": (None, "__main__:Mine", "was given as an object elsewhere"),
    "an option without a type": (
        HEAD + ON_FAULT + "pass\n    table: dict = {}",
        "mine.py",
        "option `table`: expected bool, int, float, str or a Literal of words, found dict",
    ),
    "a default of another type": (
        HEAD + ON_FAULT + "pass\n    limit: int = 'x'",
        "mine.py",
        'default of option `limit`: expected a whole number, found "x"',
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_files_that_hold_no_policy_are_refused(case, cli, tmp_path):
    text, name, expected = FILES[case]
    if text is not None:
        (tmp_path / "mine.py").write_text(text)
    done = cli("run", "-w", "stencil2d", "-s", "0.01", "-p", name)
    assert done.returncode == 2, done.stderr
    assert expected in done.stderr
    assert "`memory.placement.name`" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("assignment", "expected"),
    [
        ("treshold=3", "unknown option, expected threshold, mode; did you mean `threshold`?"),
        ("threshold=0", "`memory.placement.threshold`: expected a whole number from 1 to 9, found 0"),
        ("threshold=2.5", "expected a whole number from 1 to 9, found 2.5"),
        ("threshold=true", "expected a whole number from 1 to 9, found true"),
        ("mode=loud", 'expected one of calm, brave, found "loud"'),
        ("digest=7", "`memory.placement.digest`"),
    ],
)
def test_options_are_checked(assignment, expected, cli, tmp_path):
    options = (
        "\n    threshold: int = option(4, 'x', minimum=1, maximum=9)\n    mode: Literal['calm', 'brave'] = 'calm'\n"
    )
    (tmp_path / "mine.py").write_text("from typing import Literal\n" + HEAD + ON_FAULT + "pass" + options)
    done = cli("run", "-w", "stencil2d", "-s", "0.01", "-p", "mine.py", "--set", f"memory.placement.{assignment}")
    assert done.returncode == 2, done.stderr
    assert expected in done.stderr + done.stderr.replace("hint: ", "; ").replace("\n", "")


def test_what_is_no_policy_is_refused():
    with refused("unexpected-value", octavo.ScenarioError, key="placement", names=["3"]):
        octavo.run(workload="stencil2d", placement=3)


STRIKES_AT_THE_START = """
import signal
from octavo.runs.threads import Threads

submit = Threads.submit

def strike(*arguments):
    future = submit(*arguments)
    signal.raise_signal(signal.SIGINT)
    return future

Threads.submit = strike
from octavo.cli.app import main
main()
"""


def test_a_policy_that_raises_keyboard_interrupt_ends_its_run_alone(tmp_path):
    (tmp_path / "mine.py").write_text(HEAD + ON_FAULT + "raise KeyboardInterrupt\n")
    placements = [f"{tmp_path / 'mine.py'}:Mine", "on-touch"]
    with refused("bad-policy", octavo.PolicyError):
        octavo.compare(workload="fir", placements=placements, scale=1 / 64, output=tmp_path / "out", workers=1)
    octavo.RunResult.load(tmp_path / "out" / "runs" / "fir" / "on-touch").check()


def test_ctrl_c_stops_a_run_whose_thread_has_just_begun(tmp_path):
    (tmp_path / "mine.py").write_text(HEAD + ON_FAULT + "while True: pass")
    command = [sys.executable, "-c", STRIKES_AT_THE_START, "run", "-w", "stencil2d", "-s", "0.25", "-p", "mine.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 130, done.stderr
    assert "stopped: 0 of 1 runs" in done.stderr


@pytest.mark.parametrize("body", ["while True: pass", "time.sleep(0.01)\n        return Decision.MIGRATE"])
def test_ctrl_c_stops_a_policy_in_the_middle_of_a_call(body, tmp_path):
    (tmp_path / "mine.py").write_text("import time\n" + HEAD + ON_FAULT + "print('asked', flush=True)\n        " + body)
    command = [sys.executable, "-m", "octavo", "run", "-w", "stencil2d", "-s", "0.25", "-p", "mine.py", "-o", "out"]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout is not None
    assert running.stdout.readline() == "asked\n"
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=30)
    assert running.returncode == 130, errors
    assert "stopped: 0 of 1 runs" in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "out").exists()
