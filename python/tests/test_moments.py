"""When recorded memory is to move: by hand, on machines whose rates are round numbers."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from octavo.advice import moments, words

MS, MB = 1_000_000, 10**6
MEASURED = {
    "managed_advise_none_gpu_read": 10e9,
    "managed_first_touch_bandwidth_gpu": 20e9,
    "managed_demand_bandwidth_to_cpu_sequential": 5e9,
    "managed_prefetch_bandwidth_to_gpu": 50e9,
    "managed_prefetch_overhead_to_gpu": 40e-6,
    "managed_prefetch_bandwidth_to_cpu": 20e9,
    "managed_prefetch_overhead_to_cpu": 20e-6,
}
MACHINE = SimpleNamespace(
    measured={name: SimpleNamespace(value=value) for name, value in MEASURED.items()},
    system=SimpleNamespace(
        fault_wait=1e-6,
        fault_group=1e-6,
        fault_block=1e-6,
        fault=1e-6,
        made=1e-6,
        host_fault=1e-6,
        on_demand=40e9,
        on_demand_back=40e9,
        prefetch_call=5e-6,
    ),
)


def launch(*buffers, ns=1 * MS, kernel=0):
    return {"step": "launch", "kernel": kernel, "buffers": [*buffers], "stream": 0, "ns": ns, "gap_ns": 0}


def left(share, allocation=0):
    return {"step": "left", "allocation": allocation, "share": share}


def touched(share=1.0, allocation=0, *, written=True):
    return {"step": "touched", "allocation": allocation, "share": share, "written": written}


WAIT = {"step": "wait", "stream": None}


def moves(*steps, bytes_=100 * MB, **changes):
    allocation = {"kind": "managed", "bytes": bytes_, "prefetched": {"calls": 0}, **changes}
    return moments.moves({"allocations": [allocation] * 3, "steps": [*steps]}, MACHINE)


def test_what_is_written_once_comes_once():
    """100 MB at 10 GB/s on demand, and prefetched at 50 GB/s by a call of 40 us."""
    found = moves(touched(), launch(0, ns=30 * MS), launch(0, ns=30 * MS, kernel=1), WAIT, left(1.0))[0]
    assert (found.faults, found.moving) == pytest.approx((10e-3, 2.04e-3))
    assert (found.to_host_after, found.read_mostly, found.host_first) == (frozenset(), False, True)


def test_faults_take_what_launches_take_longer_than_others():
    steps = [touched(), launch(0, ns=8 * MS), WAIT, left(1.0), launch(0), WAIT, left(0.0), launch(0), WAIT, left(0.0)]
    assert moves(*steps)[0].faults == pytest.approx(7e-3)
    # The first of several tells it as well.
    assert moves(touched(), launch(0, ns=8 * MS), launch(0), launch(0), WAIT, left(1.0))[0].faults == pytest.approx(
        7e-3
    )


def test_faults_take_no_longer_than_launches():
    """Two buffers share what a launch takes."""
    steps = [touched(), touched(allocation=1), launch(0, 1, ns=10 * MS), WAIT, left(1.0), left(1.0, 1)]
    found = moves(*steps)
    assert found[0].faults == found[1].faults == pytest.approx(0.95 * 5e-3)


def test_what_the_device_makes_has_nothing_to_bring():
    found = moves(launch(0, ns=20 * MS), WAIT, left(0.0), touched())[0]
    assert (found.faults, found.moving) == pytest.approx((5e-3, 40e-6 + 20e-6 + 5e-3))
    # 100 MB back at 5 GB/s, or prefetched at 20.
    assert (found.returned, found.returned_left, found.to_host_after) == (pytest.approx(20e-3), 0.0, {1})
    assert not found.host_first


def test_what_the_host_hardly_touches_stays():
    found = moves(launch(0, ns=20 * MS), WAIT, left(0.0), touched(1 / 32))[0]
    assert (found.to_host_after, found.returned) == (frozenset(), found.returned_left)


def test_sparse_memory_gains_nothing_by_coming_whole():
    steps = [touched(), launch(0, ns=MS // 10), WAIT, left(1 / 32), launch(0, ns=MS // 10), WAIT, left(0.0)]
    assert moves(*steps)[0].gain < 0


def test_what_both_sides_read_is_copied_once():
    once = [launch(0, ns=30 * MS), WAIT, left(1.0)]
    found = moves(touched(), *once, touched(written=False), *once, touched(written=False))[0]
    assert (found.read_mostly, found.moving) == (True, pytest.approx(2.04e-3))
    assert not moves(touched(), *once, touched(), *once, touched(written=False))[0].read_mostly


def test_what_moves_by_itself_or_is_small_stays():
    steps = [touched(), launch(0, ns=30 * MS), WAIT, left(1.0)]
    assert moves(*steps, prefetched={"calls": 1})[0].gain < 0
    assert moves(launch(0), WAIT, bytes_=4096)[0].gain < 0
    # Nobody looked at it.
    assert moves(launch(0), WAIT) == {}


def test_allocations_of_a_site_are_weighed_together():
    one = moments.Moves(frozenset({1}), read_mostly=True, faults=3.0, moving=1.0)
    other = moments.Moves(frozenset({4}), faults=1.0, moving=2.0)
    found = moments.together([one, other])
    assert (found.to_host_after, found.read_mostly, found.gain) == ({1, 4}, False, 1.0)


def test_what_to_write_is_what_is_done():
    buffer = SimpleNamespace(name="a.c:1", size=64)
    lines = ["cudaMallocManaged(&a, 64);", "cudaMemPrefetchAsync(a, 64, device, stream);", "cudaFree(a);"]
    calls = [line.partition("(")[0] for line in words.moving(lines, buffer, moments.Moves(frozenset({1})))]
    assert calls == ["cudaMallocManaged", "cudaMemPrefetchAsync", "cudaMemPrefetchAsync", "cudaFree"]
    calls = [line.partition("(")[0] for line in words.moving(lines, buffer, moments.Moves(read_mostly=True))]
    assert calls == ["cudaMallocManaged", "cudaMemAdvise", "cudaMemPrefetchAsync", "cudaFree"]


def test_a_node_that_was_not_measured_has_rates_of_its_faults():
    rates = moments.Rates.of(SimpleNamespace(measured={}, system=MACHINE.system))
    assert rates.demand == pytest.approx((2 << 20) / (6 * 4e-6 + (2 << 20) / 40e9))
    assert rates.to_device == 40e9
