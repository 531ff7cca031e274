"""`--scale` as people write it."""

from __future__ import annotations

import pytest
import typer

from octavo.cli.options import scale_of


def test_a_scale_is_a_number_or_a_fraction():
    assert scale_of("0.0625") == scale_of("1/16") == 0.0625
    assert scale_of("2") == 2


@pytest.mark.parametrize("text", ["1/0", "1/x", "", "a sixteenth", "1/2/3"])
def test_anything_else_is_refused(text):
    with pytest.raises(typer.BadParameter) as raised:
        scale_of(text)
    assert raised.value.message.endswith(text)
