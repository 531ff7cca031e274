"""Errors have a code of a closed list, and the facts of their message; both cross processes and the engine."""

import ast
import re
from pathlib import Path

import pytest
from conftest import refused

import octavo
from octavo import _core, errors
from octavo.isolation.errors import packed, unpacked

ROOT = Path(__file__).parents[2]
SOURCES = [path for package in ("octavo", "octavo_studies") for path in (ROOT / "python" / package).rglob("*.py")]
ENGINE = [
    ROOT / "crates" / "octavo-python" / "src" / "errors.rs",
    ROOT / "crates" / "octavo-scenario" / "src" / "error.rs",
]


def of_python(path):
    """Codes that errors are raised with, and those of their classes."""
    for node in ast.walk(ast.parse(path.read_text())):
        values = []
        if isinstance(node, ast.Call) and getattr(node.func, "id", "").endswith("Error"):
            values = [each.value for each in node.keywords if each.arg == "code"]
        elif isinstance(node, ast.ClassDef) and node.bases:
            values = [each.value for each in node.body if isinstance(each, ast.Assign) and each.targets[0].id == "code"]
        yield from (each.value for value in values for each in ast.walk(value) if isinstance(each, ast.Constant))


def of_engine(path):
    """Names with a hyphen, as codes have them."""
    return re.findall(r'"([a-z]+(?:-[a-z]+)+|syntax|endless)"', path.read_text().split("#[cfg(test)]")[0])


def test_codes_are_those_of_the_list():
    if not ENGINE[0].exists():
        pytest.skip("the engine's sources are in a checkout only")
    used = {code for path in SOURCES for code in of_python(path)} | {
        code for path in ENGINE for code in of_engine(path)
    }
    assert used - errors.CODES.keys() == set()
    assert errors.CODES.keys() - used == set(), "nothing is refused with these"
    assert list(errors.CODES) == sorted(errors.CODES)


def test_an_error_is_the_same_in_another_process():
    error = errors.OutputError(
        "no", "perhaps", code="exists", file=Path("a/b"), line=3, key="k", expected=["x"], found=7
    )
    again = unpacked(packed(error))
    assert isinstance(again, errors.OutputError)
    assert (
        again.facts
        == error.facts
        == {
            "code": "exists",
            "file": str(Path("a/b")),
            "line": 3,
            "key": "k",
            "expected": ["x"],
            "found": 7,
        }
    )


def test_an_error_without_a_code_has_that_of_its_class():
    assert errors.DamagedError("no").code == "damaged"
    assert errors.again(errors.DamagedError("no", file="f"), errors.TraceError).facts["code"] == "damaged"


def test_the_engine_says_where_a_scenario_is_wrong(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text('[node]\npreset = "grit-2gpu"\ngpus = "two"\n[workload]\nname = "fir"\n')
    with refused("unexpected-value", octavo.ScenarioError, file=file, line=3, key="node.gpus", found='"two"'):
        octavo.scenario(file)
    file.write_text("[node\n")
    with refused("syntax", octavo.ScenarioError, file=file, line=1):
        octavo.scenario(file)
    for key in ("node.gpu", "memory.placement.treshold", "workload.tap"):
        with refused("unknown-key", octavo.ScenarioError, key=key):
            octavo.scenario(workload="fir", placement="grit", overrides={key: 1})


def test_facts_of_the_engine_are_those_of_python():
    with pytest.raises(_core.ScenarioError) as raised:
        _core.resolve("", "s.toml", ["node.gpus=two"])
    assert raised.value.args[2].keys() == errors.Facts.__annotations__.keys()
