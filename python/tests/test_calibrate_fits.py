"""Fits find the constants of a synthetic machine again, and say so where samples do not give them."""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from conftest import refused
from synthetic_gpu import KIB, MIB, Model, SyntheticGpu

from octavo.errors import CalibrationError
from octavo.measurements.calibrate import panels, show
from octavo.measurements.calibrate.evaluate import evaluate
from octavo.measurements.calibrate.fits import (
    fault_cost,
    fetches,
    hierarchy,
    levels,
    line,
    plain,
    reach,
    saturation,
)
from octavo.measurements.calibrate.fits.estimate import Unfit
from octavo.measurements.calibrate.folder import table_of
from octavo.measurements.calibrate.machine import Machine
from octavo.measurements.calibrate.node.derivation import derive
from octavo.measurements.calibrate.probes import PROBES, VALUES, Probe, Series, Value, copies, unified, zero_copy
from octavo.measurements.calibrate.probes.probe import Stage
from octavo.measurements.calibrate.samples import Samples
from octavo.measurements.calibrate.sidecar import Origin

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from octavo.measurements.calibrate.measurement import Measured
    from octavo.measurements.calibrate.node.draft import Draft

SEEDS = range(1, 6)


@contextmanager
def unfit(code):
    """The samples do not give the value, for a reason of this kind."""
    with pytest.raises(Unfit) as found:
        yield
    assert found.value.code == code, found.value


def sampled(gpu: SyntheticGpu, probe: str) -> Samples:
    result = gpu.measure(probe, 0, quick=False, progress=lambda *_: None)
    origin = Origin("Synthetic 1", "GPU-0", gpu.driver, "full", probe, gpu.gpus)
    return Samples(probe, table_of(probe, result["columns"], probe), origin, "2026-01-01", gpu.describe()[0])


def measured(probe: str, seed: int = 1, model: Model | None = None, **options: object) -> dict[str, float]:
    gpu = SyntheticGpu(model or Model(), seed, **options)  # type: ignore[arg-type]
    found = evaluate([sampled(gpu, probe)])
    assert not found.skipped
    return {name: value.value for name, value in found.measured.items()}


def close(value: float, share: float) -> object:
    return pytest.approx(value, rel=share)


def test_every_value_of_the_registry_is_found_on_a_machine_that_shows_them_all():
    gpu = SyntheticGpu(gpus=2)
    found = evaluate([sampled(gpu, probe) for probe in PROBES])
    assert found.skipped == {}
    names = {value.name for value in VALUES if not value.each_pair}
    pairs = {f"{value.name}_{pair}" for value in VALUES if value.each_pair for pair in ("0_1", "1_0")}
    assert set(found.measured) == names | pairs
    for one in found.measured.values():
        assert one.low <= one.value <= one.high
        assert one.repetitions >= 7


@pytest.mark.parametrize("seed", SEEDS)
def test_copies(seed):
    found, model = measured("copies", seed), Model()
    for (direction, memory), (overhead, bandwidth) in model.copy.items():
        assert found[f"copy_bandwidth_{direction}_{memory}"] == close(bandwidth, 0.02)
        assert found[f"copy_overhead_{direction}_{memory}"] == close(overhead, 0.03)
    assert found["copy_bandwidth_both"] == close(model.both[1], 0.02)
    assert found["copy_overhead_both"] == close(model.both[0], 0.03)
    assert found["copy_issue_h2d"] == close(model.issue, 0.02)
    assert found["copy_overlap_d2h"] == close(model.hidden, 0.05)


@pytest.mark.parametrize("seed", SEEDS)
def test_launches(seed):
    found, model = measured("launches", seed), Model()
    for how, (start, each) in model.launch.items():
        assert found[f"launch_{how}"] == close(each, 0.02)
        assert found[f"launch_start_{how}"] == close(start, 0.05)
        assert found[f"launch_wait_{how}"] == close(start + each, 0.02)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("random_replacement", [False, True], ids=["lru", "random"])
def test_caches_and_translation(seed, random_replacement):
    model = Model(random_replacement=random_replacement)
    found = measured("memory", seed, model)
    assert found["l1_latency"] == close(model.l1[1], 0.03)
    assert found["l2_latency"] == close(model.l2[1], 0.06)
    assert found["memory_latency"] == close(model.memory_latency, 0.1)
    assert model.l1[0] / 1.3 <= found["l1_capacity"] <= model.l1[0] * 1.2
    assert model.l2[0] / 1.3 <= found["l2_capacity"] <= model.l2[0] * 1.2
    reached = model.tlb_entries * model.tlb_page
    assert reached / 1.3 <= found["tlb_reach"] <= reached * 1.05
    assert found["tlb_miss_latency"] == close(model.tlb_miss, 0.15 if random_replacement else 0.05)
    assert found["tlb_page_size"] == model.tlb_page
    assert found["line_size"] == 128
    assert found["stream_bandwidth_triad"] == close(model.stream, 0.02)
    assert found["random_line_bandwidth_64"] == close(model.stream / 4, 0.02)
    assert found["l2_bandwidth"] == close(model.l2_rate / 2, 0.02)


@pytest.mark.parametrize("seed", SEEDS)
def test_arithmetic_and_zero_copy(seed):
    model = Model()
    found = measured("arithmetic", seed) | measured("zero_copy", seed)
    assert found["peak_fp32"] == close(model.peak["fp32"], 0.02)
    assert found["warps_to_saturate_fma"] == model.saturating["fma"]
    assert found["warps_to_saturate_load"] == model.saturating["load"]
    for pattern, rate in model.zero_copy.items():
        assert found[f"zero_copy_bandwidth_read_{pattern}"] == close(rate, 0.03)
    assert found["zero_copy_warps_write"] == 256


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("probe", ["managed", "system"])
def test_unified_memory(seed, probe):
    model = Model()
    found = measured(probe, seed)
    for way in ("to_gpu", "to_cpu"):
        assert found[f"{probe}_fault_group_{way}"] == close(model.fault_group, 0.03)
        assert found[f"{probe}_fault_page_{way}"] == close(model.fault_page, 0.05)
        assert found[f"{probe}_demand_bandwidth_{way}_sequential"] == close(model.demand, 0.03)
        assert found[f"{probe}_prefetch_bandwidth_{way}"] == close(model.prefetch[1], 0.03)
        assert found[f"{probe}_prefetch_overhead_{way}"] == close(model.prefetch[0], 0.1)
    assert [found[f"{probe}_fetch_{number}"] for number in range(1, 7)] == list(fetches.GOLDEN)
    assert found[f"{probe}_faults_a_block"] == 6
    assert found[f"{probe}_faults_a_block_random"] == 13
    assert found[f"{probe}_touch_fault"] == close(model.touch_fault + 0.7e-6, 0.03)
    assert found[f"{probe}_touch_bandwidth"] == close(model.touch_bandwidth, 0.03)
    assert found[f"{probe}_ping_pong_cpu"] == close(3e-6, 0.02)


@pytest.mark.parametrize("seed", SEEDS)
def test_roofline_and_peers(seed):
    model = Model()
    found = measured("roofline", seed) | measured("peers", seed, gpus=3)
    peak, device, host = model.roofline
    assert found["roofline_peak"] == close(peak, 0.03)
    assert found["roofline_bandwidth_device"] == close(device, 0.03)
    assert found["roofline_bandwidth_host"] == close(host, 0.03)
    assert found["peer_copy_bandwidth_2_1"] == close(model.peer[1], 0.02)
    assert found["peer_copy_overhead_0_2"] == close(model.peer[0], 0.03)


def rows(**columns: list[object]) -> pl.DataFrame:
    return pl.DataFrame(columns)


def transfers(seconds: list[float], sizes: list[int]) -> pl.DataFrame:
    count = len(sizes)
    return rows(size=sizes, bytes=sizes, count=[1] * count, repetition=[0] * count, seconds=seconds)


def test_a_line_through_two_sizes_is_no_fit():
    with unfit("too-few"):
        line.bandwidth(transfers([1.0, 2.0], [1, 2]))


def test_larger_transfers_that_are_not_slower_have_no_bandwidth():
    with unfit("not-positive"):
        line.bandwidth(transfers([3.0, 2.0, 1.0], [1, 2, 3]))


def test_a_negative_overhead_is_said_and_not_moved_to_0():
    with unfit("not-positive"):
        line.overhead(transfers([1.0, 3.0, 5.0], [1, 2, 3]))


def test_a_line_says_where_it_is_furthest_off():
    found = line.bandwidth(transfers([1.0, 2.0, 3.0, 4.0, 10.0], [1, 2, 3, 4, 5]))
    assert "5 points from 1B to 5B" in found.note
    assert "at 5B" in found.note


def test_quartiles_are_taken_over_repetitions():
    parts = [
        transfers([start + size for size in (10, 20, 30)], [10, 20, 30]).with_columns(repetition=pl.lit(number))
        for number, start in enumerate((1.0, 2.0, 3.0, 4.0, 100.0))
    ]
    found = line.overhead(pl.concat(parts))
    assert (found.value, found.low, found.high, found.repetitions) == pytest.approx((3.0, 2.0, 4.0, 5))


def test_repetitions_that_lack_a_size_are_left_out():
    whole = transfers([11.0, 21.0, 31.0], [10, 20, 30])
    part = transfers([99.0, 99.0], [10, 20]).with_columns(repetition=pl.lit(1))
    assert line.overhead(pl.concat([whole, part], how="vertical_relaxed")).repetitions == 1


def test_a_rate_that_still_rises_is_not_saturated():
    table = rows(warps=[1, 2, 4], count=[1, 1, 1], repetition=[0, 0, 0], seconds=[4.0, 2.0, 1.0])
    with unfit("not-saturated"):
        saturation.first_saturated(table, "warps", "count")
    assert "still rising" in saturation.plateau(table, "warps", "count").note


def faults(blocks: list[int], pages: list[int], stride: int = 2 * MIB) -> pl.DataFrame:
    seconds = [math.ceil(page / block) * 20e-6 + page * 3e-6 for block, page in zip(blocks, pages, strict=True)]
    count = len(blocks)
    return rows(
        pattern=["strided"] * count,
        stride=[stride] * count,
        blocks=blocks,
        pages=pages,
        repetition=[0] * count,
        seconds=seconds,
    )


def test_costs_of_groups_and_pages_need_several_blocks_in_flight():
    with unfit("inseparable"):
        fault_cost.group(faults([1, 1, 1], [10, 20, 40]))
    assert fault_cost.group(faults([1, 2, 4], [40, 40, 40])).value == close(20e-6, 1e-6)
    assert fault_cost.page(faults([1, 2, 4], [40, 40, 40])).value == close(3e-6, 1e-6)


def test_strides_within_a_block_of_the_driver_do_not_count():
    with unfit("too-few"):
        fault_cost.group(faults([1, 2, 4], [40, 40, 40], stride=64 * KIB))


def test_costs_are_never_negative():
    design = np.array([[1.0, 1.0], [1.0, 2.0], [1.0, 3.0]])
    assert fault_cost.non_negative(design, np.array([3.0, 2.0, 1.0])) == (2.0, 0.0)
    assert fault_cost.non_negative(design, np.array([-3.0, -2.0, -1.0])) == (0.0, 0.0)
    assert fault_cost.non_negative(design, np.array([3.0, 5.0, 7.0])) == pytest.approx((1.0, 2.0))


def test_non_negative_least_squares_are_never_worse_than_any_other_choice():
    rng = np.random.default_rng(7)
    for _ in range(50):
        design, target = rng.normal(size=(8, 3)), rng.normal(size=8)
        found = np.array(fault_cost.non_negative(design, target))
        assert (found >= 0).all()
        error = np.linalg.norm(design @ found - target)
        others = np.abs(rng.normal(size=(200, 3)))
        assert all(error <= np.linalg.norm(design @ other - target) + 1e-12 for other in others)


def touches(seconds: list[float], repetition: int = 0) -> pl.DataFrame:
    count = len(seconds)
    return rows(page=list(range(count)), size=[count * 4096] * count, repetition=[repetition] * count, seconds=seconds)


def test_touches_of_one_kind_tell_nothing_of_fetches():
    with unfit("inseparable"):
        fetches.fetched(touches([1e-6 * (1 + 0.01 * (page % 7)) for page in range(512)]), 1)


def test_another_tree_than_that_of_the_driver_is_seen_as_it_is():
    slow = {0: 1, 16: 1, 256: 1}
    found = touches([30e-6 if page in slow else 0.0 for page in range(512)])
    assert [fetches.fetched(found, number).value for number in (1, 2, 3)] == [64 * KIB, 960 * KIB, 1 * MIB]
    with unfit("too-few"):
        fetches.fetched(found, 4)


def test_what_a_fault_fetches_ends_with_its_block():
    slow = {0: 1, 16: 1, 520: 1}
    found = touches([30e-6 if page in slow else 1e-6 for page in range(1024)])
    assert (
        fetches.fetched(found, 1).value == (16 + 504) / 2 * 4096
    )  # 64 KiB in one block, from page 520 on in the other
    assert fetches.fetches(found)[0].sizes.tolist() == [64 * KIB, 496 * 4096, 504 * 4096]


def test_the_first_round_of_a_ping_pong_does_not_count():
    table = rows(size=[1, 1], round=[0, 1], pages=[10, 10], repetition=[0, 0], seconds=[1.0, 5.0])
    assert unified.page_in_turn(table).value == 0.5
    with unfit("too-few"):
        unified.page_in_turn(table.filter(pl.col("round") == 0))


def test_strided_accesses_are_those_of_the_nearest_line_apart():
    table = rows(
        pattern=["strided"] * 3,
        stride=[64, 256, 4096],
        width=[16] * 3,
        warps=[1] * 3,
        bytes=[100] * 3,
        repetition=[0] * 3,
        seconds=[1.0, 2.0, 4.0],
    )
    assert zero_copy.bandwidth(table).value == 50.0


def test_fits_say_where_they_are_furthest_off():
    model = Model()
    found = evaluate([sampled(SyntheticGpu(model), "managed")]).measured
    assert "pages in flight; the fit is furthest off by" in found["managed_fault_group_to_gpu"].note
    assert "the fit is furthest off by" in found["managed_touch_fault"].note


def test_equal_fetches_give_no_bandwidth():
    with unfit("inseparable"):
        fetches.bandwidth(touches([30e-6 if page % 16 == 0 else 1e-6 for page in range(512)]))


def test_overlap_needs_all_three():
    table = rows(what=["kernel", "copy"], size=[1, 1], repetition=[0, 0], seconds=[1.0, 1.0])
    with unfit("too-few"):
        copies.hidden_share(table)


@pytest.mark.parametrize(("both", "share"), [(2.0, 1.0), (3.0, 0.0), (2.5, 0.5), (3.5, -0.5)])
def test_overlap_is_the_share_of_the_shorter_that_is_hidden(both, share):
    table = rows(what=["kernel", "copy", "both"], size=[1] * 3, repetition=[0] * 3, seconds=[2.0, 1.0, both])
    assert copies.hidden_share(table).value == share


def staircase(levels_: list[float], noise: float, seed: int, points: int = 9) -> tuple[list[float], list[float]]:
    rng = np.random.default_rng(seed)
    values = [level * math.exp(rng.normal(0, noise)) for level in levels_ for _ in range(points)]
    return [4096 * 2.0 ** (index / 4) for index in range(len(values))], values


@pytest.mark.parametrize("seed", range(20))
def test_steps_are_found_and_noise_makes_none(seed):
    rng = np.random.default_rng(seed)
    factors = 1.3 + rng.random(3)
    steps = [30e-9 * math.prod(factors[:count]) for count in range(4)]
    footprints, latencies = staircase(steps, 0.01, seed)
    found = levels.plateaus(footprints, latencies)
    assert [one.latency for one in found] == [close(step, 0.03) for step in steps]
    assert [one.last for one in found] == [footprints[9 * count + 8] for count in range(4)]
    assert [one.next for one in found] == [*(footprints[9 * count] for count in range(1, 4)), None]
    assert len(levels.plateaus(*staircase([30e-9], 0.015, seed, points=40))) == 1


@pytest.mark.parametrize("seed", range(5))
def test_single_outliers_neither_hide_a_level_nor_make_one(seed):
    footprints, latencies = staircase([20e-9, 200e-9], 0.01, seed, points=12)
    for index in (4, 17):
        latencies[index] *= 3
    found = levels.plateaus(footprints, latencies)
    assert [one.latency for one in found] == [close(20e-9, 0.03), close(200e-9, 0.03)]


def test_a_slope_is_no_level():
    footprints = [4096 * 2.0**index for index in range(20)]
    assert levels.plateaus(footprints, [10e-9 * 1.2**index for index in range(20)]) == []


def chase(curves: dict[int, list[tuple[int, float]]]) -> pl.DataFrame:
    points = [(stride, footprint, seconds) for stride, curve in curves.items() for footprint, seconds in curve]
    strides, footprints, seconds = zip(*points, strict=True)
    count = len(points)
    return rows(
        stride=list(strides),
        footprint=list(footprints),
        seconds=list(seconds),
        count=[1] * count,
        repetition=[0] * count,
    )


def step_at(footprint: int) -> list[tuple[int, float]]:
    sizes = [MIB * 2**index for index in range(12)]
    return [(size, 1e-7 if size <= footprint else 3e-7) for size in sizes]


def test_steps_that_move_with_the_stride_are_a_cache_and_no_tlb():
    moving = {stride: step_at(stride * 1024) for stride in (16 * KIB, 64 * KIB, 256 * KIB)}
    with unfit("no-step"):
        reach.reach(chase(moving))
    assert reach.reach(chase({stride: step_at(64 * MIB) for stride in moving})).value == 64 * MIB


def test_a_page_size_needs_a_stride_that_moves_the_step():
    still = {stride: step_at(64 * MIB) for stride in (64 * KIB, 512 * KIB)}
    with unfit("no-step"):
        reach.page(chase(still))
    assert reach.page(chase(still | {2 * MIB: step_at(64 * MIB), 4 * MIB: step_at(128 * MIB)})).value == 2 * MIB


def test_levels_are_named_by_the_size_of_the_l2_cache_that_the_driver_gives():
    sizes = [4096 * 2**index for index in range(20)]
    curve = [(size, 1e-8 if size <= 256 * KIB else 1e-7 if size <= 32 * MIB else 4e-7) for size in sizes]
    table = chase({128: curve})
    assert hierarchy.latency(table, 40 * MIB, "memory").value == 4e-7
    assert hierarchy.capacity(table, None, "l1").value == 256 * KIB
    two_halves = [(size, 1.3e-7 if 4 * MIB < size <= 32 * MIB else seconds) for size, seconds in curve]
    assert hierarchy.latency(chase({128: two_halves}), 40 * MIB, "l2").value == 1e-7
    assert hierarchy.capacity(chase({128: two_halves}), 40 * MIB, "l2").value == 32 * MIB
    with unfit("no-step"):
        hierarchy.latency(table, 8 << 30, "l2")


def test_missing_series_and_times_of_0_are_said_by_name():
    gpu = SyntheticGpu()
    whole = sampled(gpu, "launches")
    part = Samples("launches", whole.series("launch"), whole.origin, whole.date)
    assert evaluate([part]).skipped["launch_wait_graph"] == "the probe has no samples of series `launch_wait`"
    still = Samples("launches", whole.table.with_columns(seconds=pl.lit(0.0)), whole.origin, whole.date)
    assert "42 of 42 times are 0" in evaluate([still]).skipped["launch_stream"]
    left_out = Samples("launches", part.table, whole.origin, whole.date, skipped={"launch_wait": "no graphs"})
    assert evaluate([left_out]).skipped == {"launches.launch_wait": "no graphs"}


def test_a_new_probe_is_one_entry(tmp_path, monkeypatch):
    """Series, value, key of a node and picture of a probe that nothing else knows."""

    def draw(samples: Samples, measured: Mapping[str, Measured], folder: Path) -> list[Path]:
        found = panels.panels(["toy"])
        rows = panels.points(samples.series("toy"), "size", pl.col("bytes") / pl.col("seconds"))
        panels.curve(found.axes[0], rows, "size", name="rate", paint=panels.colour(0))
        panels.mark(found.axes[0], "y", measured["toy_rate"].value, "rate")
        return [found.save(folder / "toy.png", "toy")]

    def clock(draft: Draft) -> None:
        if (rate := draft.number("toy_rate", "clock")) is not None:
            draft.put("clock", f"{round(rate)}Hz", f"measured {draft.named('toy_rate')}")

    series = {"toy": Series("bytes of a size", ("size",))}
    rate = Value("toy_rate", "B/s", "toy", "toy", "rate", plain.BYTES, plain.bandwidth)
    monkeypatch.setitem(PROBES, "toy", Probe("toy", series, [rate], draw, {Stage.COMPUTE: clock}))
    columns = {
        "series": ["toy"] * 4,
        "repetition": [0, 1, 2, 3],
        "seconds": [1.0, 1.0, 1.0, 1.0],
        "bytes": [1_000_000_000, 2_000_000_000, 2_000_000_000, 3_000_000_000],
        "count": [1] * 4,
        "size": [64] * 4,
    }
    origin = Origin("Synthetic 1", "GPU-0", "595", "full", "toy", 1)
    samples = Samples("toy", table_of("toy", columns, "toy"), origin, "2026-01-01")
    measured = evaluate([samples]).measured
    assert (measured["toy_rate"].value, measured["toy_rate"].low) == (2e9, 1.75e9)
    node = derive({}, measured)
    assert {value.key: (value.value, value.source) for value in node.values} == {
        "clock": ("2000000000Hz", "measured toy_rate 2GB/s")
    }
    machine = Machine({"gpu": "Synthetic 1"}, measured)
    assert [path.name for path in show.draw(machine, [samples], tmp_path)] == ["toy.png"]
    with refused("unexpected-value", CalibrationError, key="size", expected="size"):
        table_of("toy", {name: values for name, values in columns.items() if name != "size"}, "toy")
