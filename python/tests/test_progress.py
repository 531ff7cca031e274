"""Commands that once ran for ever end; a run that really makes no progress is given up and says who waits."""

from __future__ import annotations

import json

import pytest

ONCE_ENDLESS = [
    ("-w", "vectoradd", "-n", "hgx-h100-8", "-s", "0.0005"),
    ("-w", "fir", "-n", "hgx-h100-8", "-s", "0.0625"),
    ("-w", "gemm", "-n", "b200-8", "-s", "0.0625"),
]
"""No option of the memory system is set: what a newcomer types."""
PLAIN = ("--set", "memory.preset=plain")
"""The memory system that these nodes had then."""

GUARD = """
from octavo.policies import GuardPolicy, Hint

class Never(GuardPolicy):
    def on_fault(self, fault, page):
        return Hint.throttle(self.memory.now + 1_000_000)
"""


@pytest.mark.parametrize("memory", [(), PLAIN], ids=["the node's memory", "plain"])
@pytest.mark.parametrize("arguments", ONCE_ENDLESS, ids=lambda arguments: arguments[1])
def test_commands_of_the_readme_s_kind_end(arguments, memory, cli):
    done = cli("run", *arguments, *memory, "-o", "out", "-q")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("option", [(), ("--dry-run",)], ids=["run", "dry run"])
def test_a_run_without_progress_says_who_waits(option, cli, tmp_path):
    (tmp_path / "never.py").write_text(GUARD, encoding="utf-8")
    done = cli("run", "-w", "fir", "-s", "0.002", "-n", "grit-2gpu", "--guard", "never.py", "-o", "out", *option)
    assert done.returncode != 0
    assert all(word in done.stderr for word in ("no progress", "gpu0", "page", "`input`"))
    assert not (tmp_path / "out").exists()


def test_explain_tells_of_late_accesses(cli):
    assert cli("run", "-w", "gemm", "-n", "hgx-h100-8", "-s", "0.0625", *PLAIN, "-o", "out", "-q").returncode == 0
    found = json.loads(cli("explain", "out", "--json").stdout)["facts"]
    assert found["late_retries"] > 0
    assert found["late_ps"] > 0
