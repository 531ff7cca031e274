"""Tables on terminals of all widths: no word and no number is ever broken."""

from __future__ import annotations

import io

import pytest

from octavo.cli.sink import Sink
from octavo.cli.terminal import Terminal

COLUMNS = ["workload", "kind", "allocate", "initialise", "kernels", "results"]
ROWS = [
    ["matrixmultiplication", "explicit", "0.956 ms", "1,234", "0.956 ms", "copied in and copied out"],
    ["fir", "managed", "0.956 ms", "34", "12 ms", "moved"],
]
WORDS = {*COLUMNS, "matrixmultiplication", "fir", "explicit", "managed", "1,234", "34", "0.956", "12", "ms", "moved"}


class Screen(io.StringIO):
    """What somebody looks at."""

    def isatty(self):
        return True


def shown(width):
    told = io.StringIO()
    Sink(as_json=False, terminal=Terminal(stream=told, width=width)).table("phases", COLUMNS, ROWS)
    return told.getvalue()


@pytest.mark.parametrize("width", [20, 60, 70, 80, 120])
def test_words_and_numbers_stay_whole(width):
    found = shown(width)
    assert set(found.split()) >= WORDS
    assert "0.956 ms" in found, "a number and its unit stay together"


def test_a_table_takes_the_room_there_is_before_it_takes_more():
    assert max(map(len, shown(80).splitlines())) <= 80
    assert "copied in and copied out" in shown(120)
    assert "copied in and copied out" not in shown(80)


def test_columns_stand_closer_before_rows_run_over_the_edge():
    told = io.StringIO()
    names = ["variant", "local", "host", "migrate", "remote", "duplicate", "collapse", "eviction", "walk"]
    rows = [[name, *["94.0%"] * 8] for name in ("on-touch", "access-counter", "duplication")]
    Sink(as_json=False, terminal=Terminal(stream=told, width=80)).table("shares", names, rows)
    assert max(map(len, told.getvalue().splitlines())) <= 80
    assert told.getvalue().split()[-9:] == rows[-1]


def test_long_names_and_ranges_end_lines_between_their_parts_rather_than_beyond_the_terminal():
    told = io.StringIO()
    sink = Sink(as_json=False, terminal=Terminal(stream=told, width=60))
    name = "uvm_perf_access_counter_threshold"
    rows = [["a-long-name-of-a-row", "-15 µs", "-15.25 µs to 251.75 µs", f"as `{name}` says, and more words"]]
    sink.table("facts", ["fact", "value", "between", "meaning"], rows)
    lines = told.getvalue().splitlines()
    assert max(map(len, lines)) <= 60
    assert any("-15.25 µs to " in line and "251.75" not in line for line in lines)
    assert any("251.75 µs " in line for line in lines)
    words = told.getvalue().split()
    assert [word for word in words if word.strip("`").endswith(("_", "threshold"))] == [
        "`uvm_perf_",
        "access_",
        "counter_",
        "threshold`",
    ]


def test_sentences_stay_whole_words_on_a_terminal_and_one_line_in_a_file():
    sentence = "Faults by buffer: input 49% (its pages moved 1.0 times), output 49%, a-name-that-has-no-room-at-all."
    on_terminal, in_file = Screen(), io.StringIO()
    for into in (on_terminal, in_file):
        Sink(as_json=False, terminal=Terminal(stream=into, width=24)).tell(sentence)
    assert in_file.getvalue() == f"{sentence}\n"
    assert on_terminal.getvalue().split() == sentence.split()
    assert max(len(row) for row in on_terminal.getvalue().splitlines()[:-1]) <= 24
