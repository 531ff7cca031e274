"""The JSON schema of scenarios, and the types that are made of what the core tells."""

from __future__ import annotations

import ast
import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import octavo
from octavo import _core
from octavo.files import toml
from octavo.runs import content
from octavo.scenarios import catalogue

ROOT = Path(__file__).parents[2]
GOOD = [
    {"workload": "fir"},
    {"workload": {"name": "fir", "scale": 0.5, "taps": 4}},
    {"workload": "hs+gups"},
    {"workload": "fir", "memory": {"placement": {"name": "grit", "fault_threshold": 2}}},
    {"workload": "fir", "memory": {"placement": "my_policy.py:Mine"}},
    {"workload": "fir", "node": {"preset": "grit-4gpu", "gpu_link": {"bandwidth": "600GB/s"}}},
    {"workload": "fir", "record": {"interval": "1µs"}},
    {"job": [{"name": "a", "workload": "fir", "gpus": [0]}]},
]
BAD = [
    {},
    {"workload": "fri"},
    {"wrkload": "fir"},
    {"workload": {"name": "fir", "tops": 4}},
    {"workload": "fir", "memory": {"placement": {"name": "grit", "fault_treshold": 2}}},
    {"workload": "fir", "node": {"preset": "grit-4gpus"}},
    {"workload": "fir", "node": {"gpu_link": {"bandwidth": "600GHz"}}},
    {"workload": "fir", "record": {"interval": "-5ns"}},
    {"workload": "fir", "record": {"interval": "1e3ns"}},
    {"job": [{"name": "a", "workload": "fri"}]},
]


@pytest.fixture(scope="module", params=["schema", "schema_spelled_out"])
def validator(request):
    schema = getattr(catalogue, request.param)()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize("node", catalogue.names("nodes"))
def test_what_is_spelled_out_is_accepted(validator, node):
    spelled_out = toml.parsed(octavo.scenario("fir", node=node, placement="grit").toml)
    assert [error.message for error in validator.iter_errors(spelled_out)] == []


@pytest.mark.parametrize("values", GOOD)
def test_what_can_be_run_is_accepted(validator, values):
    assert [error.message for error in validator.iter_errors(values)] == []


@pytest.mark.parametrize("values", BAD)
def test_what_cannot_be_run_is_refused(validator, values):
    assert not validator.is_valid(values)


@pytest.fixture(scope="module")
def made():
    spec = spec_from_file_location("type_files", ROOT / "tools" / "wheel" / "type_files.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_types_of_scenarios_are_those_of_this_core(made):
    stored = made.CONFIG.read_text(encoding="utf-8")
    assert stored == made.config(), "run `make`"
    assert "`bst`: Keys." in stored, "what a key is where workloads share its name"
    config = octavo.Config(node={"gpu_link": {"bandwidth": "600GB/s"}}, memory={"placement": {"name": "grit"}})
    changed = octavo.scenario(workload="fir", scale=0.01, overrides=config).toml
    before = octavo.scenario(workload="fir", scale=0.01, placement="grit").toml
    assert changed.count('"600GB/s"') == before.count('"600GB/s"') + 1
    assert len(changed.splitlines()) == len(before.splitlines()) + 1, "which key is changed"


def test_types_of_results_are_those_of_this_core(made):
    assert made.TOTALS.read_text(encoding="utf-8") == made.totals(), "run `make`"
    ast.parse(made.totals())


def test_every_table_of_a_run_is_one_that_results_may_have():
    told = {table["name"] for table in json.loads(_core.result_schema())["tables"]}
    assert told <= set(content.TABLES)
