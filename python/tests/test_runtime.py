"""What the runtime library is given, and what it answers, are the command's own."""

from __future__ import annotations

import json
from dataclasses import replace
from math import isclose
from pathlib import Path

import pytest
from conftest import refused
from nsys_exports import A, saxpy

import octavo
from octavo.advice import model, systems
from octavo.advice import recording as recorded
from octavo.errors import AdviceError, OutputError
from octavo.measurements.imports import import_nsys

CRATE = Path(__file__).parents[2] / "crates" / "octavo-runtime"
CASES = json.loads((CRATE / "data" / "answers.json").read_text())
DEVICE_FIRST, WRITE_SHARED, SEEN_BY_HOST, SWEPT = 1, 2, 4, 8


def structure(data: dict[str, float], system: model.System) -> model.Structure:
    """What `octavo.h` says of a structure, as Python asks the model: a slow second reading of the header."""
    size, flags, sigma, rho = (
        int(data["bytes"]),
        data.get("flags", 0),
        data.get("touched", 1.0),
        data.get("visits", 1.0),
    )
    accessed = data.get("accessed_bytes") or size * sigma
    launch = data.get("blocks") and data.get("threads_per_block")
    fit = system.multiprocessors * system.warps
    resident = min(data["blocks"] * -(-data["threads_per_block"] // system.warp), fit) if launch else 0
    pages = -(-size // system.page)
    faults = (
        sum(
            model.prefetched(range(min(512, pages - at)), range(min(512, pages - at))).faults
            for at in range(0, pages, 512)
        )
        if pages <= 4096
        else pages // 512 * 6
    )
    kernels = data.get("kernel_seconds")
    spanned = round(resident * system.warp * 4 / system.page)
    moved_in, moved_out = int(data.get("copied_in", 0)), int(data.get("copied_out", 0))
    return model.Structure(
        size=size,
        lines=int(data.get("line_bytes", 0)),
        sigma=sigma,
        rho=rho,
        alpha=data["operations"] / accessed if data.get("operations") else 1.0,
        occupancy=resident / fit if launch else 1.0,
        required=size * sigma * rho / kernels / system.multiprocessors if kernels else None,
        fault_concurrency=int(data.get("faults_together", 0)) or min(max(spanned, 1), system.most_faults),
        prefetched_pages=round((1 - faults / pages) * size * sigma * rho / system.page) if flags & SWEPT else 0,
        prefetches=int(faults / pages * size * sigma * rho / system.page) if flags & SWEPT and faults < pages else 0,
        first="device" if flags & DEVICE_FIRST else "host",
        host_faults=faults,
        returned=int(moved_out * sigma),
        return_faults=round(faults * moved_out / size * sigma),
        return_prefetches=round(faults * moved_out / size * sigma),
        write_shared=bool(flags & WRITE_SHARED),
        thrashing=data.get("stalled_seconds", 0.0),
        copied_in=moved_in,
        copied_out=moved_out,
        copies=int(data.get("copies", 0)) or (moved_in > 0) + (moved_out > 0),
        seen_by_host=bool(flags & SEEN_BY_HOST) or moved_in + moved_out > 0,
    )


def answer(data: dict[str, float], system: model.System) -> dict[str, float | str | None]:
    """What is expected of the library."""
    asked = structure(data, system)
    managed = model.penalty(system, asked)
    pinned = model.penalty(system, asked, "pinned") if asked.lines else None
    costs = {"device": 0.0}
    if not managed.thrashes:
        costs["managed"] = managed.phi
    if pinned is not None:
        costs["pinned"] = pinned.phi
    host = min((name for name in costs if name != "device"), key=lambda name: costs[name], default=None)
    on_device = host is None or (costs[host] > 0 and asked.size <= system.capacity)
    placement = "device" if on_device else host
    return {
        "managed": None if managed.thrashes else managed.phi,
        "pinned": None if pinned is None else pinned.phi,
        "placement": placement,
    }


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_answers_of_the_library_are_those_of_the_model(case):
    found = answer(case["data"], systems.from_node("cuda-sm90").system)
    assert found["placement"] == case["placement"]
    for name in ("managed", "pinned"):
        expected = case[name]
        assert (found[name] is None) == (expected is None)
        assert expected is None or isclose(found[name], expected, rel_tol=1e-9)


def test_the_built_in_machine_is_the_node_that_advice_assumes():
    built_in = (CRATE / "data" / "cuda-sm90.json").read_text()
    assert built_in == systems.text(systems.from_node(systems.DEFAULT_NODE))


def test_constants_are_written_once_and_hold_what_was_found(tmp_path):
    file = tmp_path / "constants.json"
    systems.write("cuda-sm80", file)
    found = json.loads(file.read_text())
    assert found["constants"] == systems.FORMAT
    assert found["system"]["page"] == "4096B"
    assert set(found["origins"]) == set(vars(systems.from_node("cuda-sm80").system))
    with refused("exists", OutputError, file="constants.json"):
        systems.write("cuda-sm90", file)
    systems.write("cuda-sm90", file, force=True)
    assert file.read_text() == systems.text(systems.from_node("cuda-sm90"))


def test_a_rarely_used_buffer_is_an_answer_that_depends_on_what_is_used():
    system = systems.from_node("cuda-sm90").system
    rare = structure({"bytes": 1 << 30, "touched": 0.05, "faults_together": 64, "copied_in": 1 << 30}, system)
    assert model.penalty(system, rare).advises_host
    assert not model.penalty(system, replace(rare, sigma=1.0)).advises_host


def recording(*allocations, octavo_profile=1):
    """A profile of the record mode, of two call sites."""
    nothing = {"calls": 0, "bytes": 0}
    ways = dict.fromkeys(("copied_in", "copied_out", "copied_within", "filled", "prefetched"), nothing)
    rows = [
        {"kind": "device", "call": "cudaMalloc", "bytes": 1 << 20, "site": 0, **ways, **each} for each in allocations
    ]
    sites = [[{"module": "/home/a/program", "offset": 0x1234, "symbol": None}]] * 2
    return json.dumps({"octavo_profile": octavo_profile, "sites": sites, "allocations": rows})


def test_allocations_of_one_place_that_are_copied_otherwise_are_buffers_of_their_own(tmp_path):
    file = tmp_path / "profile.json"
    once = {"calls": 1, "bytes": 1 << 20}
    file.write_text(recording({"copied_in": once}, {"copied_out": once}, {"copied_in": once}, {"bytes": 4096}))
    found = recorded.recording(file, systems.from_node("cuda-sm80"))
    assert [buffer.name for buffer in found.buffers] == [
        "program+0x1234",
        "program+0x1234 #2",
        "program+0x1234 #3",
    ]
    assert [site.orders for site in found.sites] == [(0, 2), (1,), None]
    assert found.sites[0].frames == (("/home/a/program", 0x1234),)


def test_a_recording_is_advised_on_by_call_site_and_size(tmp_path):
    file = tmp_path / "profile.json"
    once = {"calls": 1, "bytes": 1 << 20}
    twice = {"calls": 2, "bytes": 3 << 20}
    pinned = {"kind": "pinned"}
    file.write_text(recording({"copied_in": once}, {"copied_in": twice}, {"site": 1, "kind": "managed"}, pinned))
    advice = octavo.advise(file, node="cuda-sm80")
    assert list(advice.placements) == ["program+0x1234", "program+0x1234 #2"]
    first, second = (each.buffer for each in advice.plan.buffers)
    assert (first.present, second.present) == ("device", "managed")
    assert (first.facts["copied_in"].value, first.facts["copies"].value) == (2 << 20, 1.5)
    assert (first.facts["rho"].low, first.facts["rho"].value) == (1.0, 2.0)
    assert (first.first, second.first) == ("host", "host")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "syntax"),
        ("[]", "missing"),
        (recording({}, octavo_profile=9), "other-format"),
        (recording({"kind": "pinned"}), "missing"),
        (recording({"site": 7}), "damaged"),
        (recording({"bytes": 10**400}), "damaged"),
    ],
)
def test_recordings_that_cannot_be_used_are_refused(tmp_path, text, code):
    file = tmp_path / "profile.json"
    file.write_text(text)
    with refused(code, AdviceError, file=file):
        octavo.advise(file)


def test_faults_of_an_import_go_to_the_call_sites_of_the_recording(tmp_path, cli):
    """`A` is used twice: its first allocation and its second come from two sites."""
    result = import_nsys(saxpy(tmp_path / "saxpy.sqlite"), tmp_path / "saxpy")
    managed = {"kind": "managed", "call": "cudaMallocManaged", "address": A}
    (tmp_path / "profile.json").write_text(
        recording(
            {**managed, "bytes": 1 << 20, "allocated_ns": 10},
            {**managed, "bytes": 8192, "allocated_ns": 20, "site": 1},
            {"bytes": 4096, "address": 1, "allocated_ns": 5},
        )
    )
    done = cli("advise", "profile.json", "--node", "cuda-sm80", "--faults", "saxpy", "--json")
    assert done.returncode == 0, done.stderr
    first, second, device = json.loads(done.stdout)["buffers"]
    profile = octavo.advise(result.folder, node="cuda-sm80")
    told = {each.buffer.size: each.buffer.facts for each in profile.plan.buffers}
    assert (first["facts"]["rho"]["value"], first["facts"]["rho"]["certainty"]) == (1.5, "recorded")
    for buffer in (first, second):
        assert buffer["facts"]["faults"]["value"] == told[buffer["size"]]["faults"].value
        assert buffer["facts"]["sigma"]["value"] == told[buffer["size"]]["sigma"].value
    assert first["facts"]["migrations"] == {
        "value": 48.0,
        "low": 48.0,
        "high": 48.0,
        "certainty": "recorded",
        "where": "events of the profile",
    }
    assert device["facts"]["sigma"]["certainty"] == "assumed"
    table = cli("advise", "profile.json", "--node", "cuda-sm80", "--faults", "saxpy").stdout
    assert "What the profile tells by the line that allocated" in table
    assert " 48 " in table
    (tmp_path / "other.json").write_text(recording({**managed, "address": A + 1, "allocated_ns": 1}))
    with refused("missing", AdviceError, file="saxpy"):
        octavo.advise(tmp_path / "other.json", faults=result.folder)
    with refused("unexpected-value", AdviceError, key="faults", found="vectoradd"):
        octavo.advise("vectoradd", scale=1 / 256, faults=result.folder)


def test_call_sites_are_named_by_their_line_where_there_is_one(tmp_path, monkeypatch):
    tool = tmp_path / "addr2line"
    tool.write_text(
        '#!/bin/sh\nif [ "$3" = 0x1233 ]; then echo "/src/main.cu:42 (discriminator 1)"; else echo "??:0"; fi\n'
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    file = tmp_path / "profile.json"
    frames = [[{"module": str(tool), "offset": offset, "symbol": None} for offset in (0x99, 0x1234)]]
    file.write_text(json.dumps({**json.loads(recording({})), "sites": frames}))
    assert list(octavo.advise(file).placements) == ["main.cu:42"]
