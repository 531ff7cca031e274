"""Placement by phase: what a prefetch brings where a buffer goes from the host to kernels or back."""

from __future__ import annotations

import json

import polars as pl
import pytest
from nsys_exports import saxpy

import octavo
from octavo.advice import by_phase, systems
from octavo.measured.imports import import_nsys

SYSTEM = systems.from_node("cuda-sm80").system


def test_what_a_prefetch_brings_by_hand():
    page = SYSTEM.page / SYSTEM.on_demand
    faults = pl.DataFrame(
        {"kind": ["read_fault"] * 3, "pages": [1, 1, 2], "group": [0, 0, 1], "together": [4, 4, 1]},
    )
    found = by_phase._device_gain(faults, 10, SYSTEM)
    served, cost = 4 * SYSTEM.fault, SYSTEM.copy_call + 10 * page
    assert found.value == pytest.approx(served + 1.5 * SYSTEM.fault_group - cost)
    assert (found.low, found.high) == pytest.approx((served - cost, served + 2 * SYSTEM.fault_group - cost))
    moves = pl.DataFrame({"kind": ["migration", "prefetch", "migration"], "pages": [1, 15, 1], "to": [0, 0, 1]})
    back = by_phase._host_gain(moves, 3, SYSTEM)
    expected = SYSTEM.host_fault - SYSTEM.copy_call - 3 * SYSTEM.page / SYSTEM.on_demand_back
    assert back.value == back.low == back.high == pytest.approx(expected)
    nothing = faults.clear()
    assert by_phase._device_gain(nothing, 10, SYSTEM).value == 0
    assert by_phase._host_gain(moves.clear(), 0, SYSTEM).value == 0


def test_what_a_side_does_alone_is_one_phase():
    class Run:
        def table(self, _name):
            names = ["host-initialisation", "copy-in", "kernel", "kernel", "host-results", "kernel", "deallocation"]
            times = range(len(names))
            # The first of two kernels side by side ends last.
            ends = [1, 2, 9, 4, 5, 6, 7]
            return pl.DataFrame({"action": times, "phase": names, "name": names, "began_ps": times, "ended_ps": ends})

    found = by_phase.phases_of(Run())
    assert [(phase.side, phase.began, phase.ended) for phase in found] == [
        ("host", 0, 1),
        ("device", 2, 9),
        ("host", 4, 5),
        ("device", 5, 6),
    ]


def test_phases_of_a_profile_are_kernels_and_what_the_host_touches_between():
    class Profile:
        folder, tables = "profile", ("kernels",)

        def __init__(self, rows):
            self.rows = rows

        def table(self, _name):
            return pl.DataFrame(self.rows, schema=["kernel", "began_ps", "ended_ps"], orient="row")

    def event(time, kind, to):
        return {"time_ps": time, "kind": kind, "to": to}

    events = [event(1, "cpu_fault", 0), event(12, "cpu_fault", 0), event(31, "migration", 0), event(33, "cpu_fault", 0)]
    events += [event(35, "migration", 1)]
    kernels = [("a", 10, 20), ("b", 15, 30), ("c", 40, 50), ("d", 60, 70)]
    found = by_phase.phases_of_profile(Profile(kernels), pl.DataFrame(events))
    assert [(phase.side, phase.name, phase.began, phase.ended) for phase in found] == [
        ("host", "the host touches it", 1, 1),
        ("device", "a", 10, 30),
        ("host", "the host touches it", 31, 33),
        ("device", "c", 40, 70),
    ]
    with pytest.raises(octavo.AdviceError, match="expected kernels with their times, found none"):
        by_phase.phases_of_profile(Profile([]), pl.DataFrame(events))


def test_prefetches_of_an_imported_profile(tmp_path, cli):
    import_nsys(saxpy(tmp_path / "saxpy.sqlite"), tmp_path / "saxpy")
    done = cli("advise", "saxpy", "--node", "cuda-sm80", "--placements", "managed", "--by-phase", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["by_phase"]
    assert [(phase["side"], phase["name"]) for phase in found["phases"]] == [("device", "saxpy")]
    first = next(move for move in found["moves"] if move["buffer"] == "managed 1")
    # Two groups of a fault each, at 1 and 1.01 us; 208 of 256 pages come for nothing.
    served, cost = 2 * SYSTEM.fault, SYSTEM.copy_call + 208 * SYSTEM.page / SYSTEM.on_demand
    assert first["gain"]["low"] == pytest.approx(served - cost)
    (tmp_path / "profile.json").write_text("{}")
    done = cli("advise", "profile.json", "--by-phase")
    assert "--by-phase needs the times of pages and kernels" in " ".join(done.stderr.split())


def test_prefetches_by_phase_are_faster_as_programs():
    advice = octavo.advise(
        "alignment", scale=1 / 256, node="cuda-sm80", placements=["managed"], by_phase=True, verify=True
    )
    found = advice.by_phase
    assert found is not None
    assert advice.found is not None
    assert [phase.side for phase in found.phases[:2]] == ["host", "device"]
    assert any(move.to == "device" for move in found.moves)
    assert all(move.gain.low <= move.gain.value <= move.gain.high and move.gain.value > 0 for move in found.moves)
    assert advice.found_by_phase is not None
    assert advice.found_by_phase < advice.found.advised
    assert advice.to_dict()["by_phase"]["placements"] == dict.fromkeys(advice.placements, "managed")


def test_buffers_that_do_not_change_their_role_need_none(tmp_path):
    with pytest.raises(octavo.AdviceError, match="expected runs that tell when pages come, found"):
        octavo.advise("vectoradd", scale=1 / 256, quick=True, by_phase=True)
    advice = octavo.advise("vectoradd", scale=1 / 256, placements=["device"], by_phase=True, output=tmp_path / "a")
    assert advice.by_phase is not None
    assert advice.by_phase.moves == []
