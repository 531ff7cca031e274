"""What advice says to write, for each library."""

from __future__ import annotations

import ast

import pytest

import octavo
from octavo.advice import words

PLACEMENTS = ("device", "managed", "prefetched", "pinned")


@pytest.fixture(scope="module")
def buffers():
    return octavo.advise("fir", node="cuda-sm90", scale=0.015625, quick=True).plan.buffers


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("library", ["cuda.core", "pytorch"])
def test_what_is_to_be_written_in_python_is_python_and_asks_for_all_bytes(buffers, library, placement):
    for each in buffers:
        code = "\n".join(words.actions(each.buffer, placement)[library])
        ast.parse(code)
        assert library == "pytorch" or str(each.buffer.size) in code


def test_each_placement_is_another_resource_and_only_one_is_prefetched(buffers):
    for library in words.Library:
        said = {placement: words.actions(buffers[0].buffer, placement)[library.value] for placement in PLACEMENTS}
        assert len({"\n".join(lines) for lines in said.values()}) == len(PLACEMENTS), library
        assert [placement for placement in said if "refetch" in "\n".join(said[placement])] == ["prefetched"]


def test_copies_are_written_where_the_program_copies(buffers):
    copied = {each.buffer.name: each.buffer.facts["copied_in"].value > 0 for each in buffers}
    written = {
        each.buffer.name: any("copy_from" in line for line in words.actions(each.buffer, "device")["cuda.core"])
        for each in buffers
    }
    assert copied == written
    assert any(copied.values())


def test_the_command_line_writes_for_a_library(cli):
    done = cli(
        "advise", "fir", "--node", "cuda-sm90", "--scale", "1/64", "--quick", "--kind", "managed", "--for", "cuda.core"
    )
    assert done.returncode == 0, done.stderr
    assert "cuda.core" in done.stdout or "Nothing needs to change" in done.stdout
