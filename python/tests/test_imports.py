"""What is imported when: names of the package and commands when they are first used."""

import subprocess
import sys
import types

import pytest

import octavo
from octavo.cli.commands import COMMANDS, Imported

HEAVY = ("polars", "numpy", "matplotlib", "rich.progress")


def imported_by(code):
    """Which of the heavy libraries a program imports."""
    program = f"{code}\nimport sys\nprint(*(name for name in {HEAVY} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_every_public_name_is_found_by_itself():
    code = "import octavo\nfor name in reversed(octavo.__all__): getattr(octavo, name)"
    assert "polars" in imported_by(code)


def test_two_runs_are_compared_with_nothing_imported_but_the_package():
    code = "import octavo\noctavo.explain.difference"
    assert "polars" in imported_by(code)


def test_names_are_not_hidden_by_modules():
    modules = {name for name in octavo.__all__ if isinstance(getattr(octavo, name), types.ModuleType)}
    above = {"advice", "explain", "generators", "measurements", "policies", "report"}
    assert modules == {*above, "roofline", "tier", "trace"}
    assert set(octavo.__all__) <= set(dir(octavo))


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError) as raised:
        _ = octavo.comapre
    assert "comapre" in str(raised.value)
    assert not hasattr(octavo, "__wrapped__")


def test_nothing_heavy_is_imported_before_it_is_needed():
    assert imported_by("import octavo") == []
    assert imported_by("from octavo.cli.commands import Imported\nImported()['schema']") == []
    assert imported_by("import octavo\noctavo.run") == []
    assert "polars" in imported_by("import octavo\noctavo.compare")


def test_every_command_is_found_by_its_name():
    commands = Imported()
    assert list(commands) == list(COMMANDS)
    for name, command in commands.items():
        assert command.name == name
        assert command.get_short_help_str()


def test_a_misspelt_command_is_answered_with_what_was_meant(cli):
    done = cli("comapre")
    assert done.returncode == 2
    assert "Did you mean 'compare'?" in done.stderr
