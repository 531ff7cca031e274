"""Tables on terminals of all widths: no word and no number is ever broken."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from octavo.cli.sink import Sink

COLUMNS = ["workload", "kind", "allocate", "initialise", "kernels", "results"]
ROWS = [
    ["matrixmultiplication", "explicit", "0.956 ms", "1,234", "0.956 ms", "copied in and copied out"],
    ["fir", "managed", "0.956 ms", "34", "12 ms", "moved"],
]
WORDS = {*COLUMNS, "matrixmultiplication", "fir", "explicit", "managed", "1,234", "34", "0.956", "12", "ms", "moved"}


def shown(width):
    told = io.StringIO()
    Sink(as_json=False, console=Console(file=told, width=width, highlight=False)).table("phases", COLUMNS, ROWS)
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
