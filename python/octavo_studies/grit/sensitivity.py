"""Sensitivity studies: one parameter varied, everything else as in the main study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from octavo.runs import measures, pictures
from octavo.runs.experiment import Variant
from octavo.runs.speedups import with_speedup
from octavo_studies.grit.dispatches import NAMED
from octavo_studies.grit.study import OPTIONS

if TYPE_CHECKING:
    from octavo_studies.engine import Found
    from octavo_studies.grit.study import Study

BASELINE = "on-touch"
UNIFORM = (BASELINE, "access-counter", "duplication", "grit")


@dataclass(frozen=True)
class Setting:
    """One value of what is varied."""

    label: str
    overrides: tuple[str, ...]
    """Changes to the node or the memory system (`key=value`)."""
    options: tuple[str, ...] = ()
    """Changes to GRIT's own options, not applied to other placements."""


@dataclass(frozen=True)
class Sweep:
    """A parameter, its values, and the placements that are compared under each."""

    title: str
    settings: tuple[Setting, ...]
    placements: tuple[str, ...] = UNIFORM


def _values(key: str, values: tuple[object, ...], shown: str = "{}") -> tuple[Setting, ...]:
    return tuple(Setting(shown.format(value), (f"{key}={value}",)) for value in values)


def _grit(key: str, values: tuple[object, ...]) -> tuple[Setting, ...]:
    return tuple(Setting(f"{value}", (), (f"memory.placement.{key}={value}",)) for value in values)


_ONLY_GRIT = (BASELINE, "grit")
_WITH_GRIFFIN = (*UNIFORM, "griffin-dpc")

SWEEPS = {
    "threshold": Sweep("GRIT's fault threshold", _grit("fault_threshold", (2, 4, 8, 16)), _ONLY_GRIT),
    "components": Sweep(
        "GRIT's components",
        (
            Setting("PA-Table only", (), ("memory.placement.pa_cache=false", "memory.placement.prediction=false")),
            Setting("+ PA-Cache", (), ("memory.placement.prediction=false",)),
            Setting("+ prediction", ()),
            Setting("prediction without PA-Cache", (), ("memory.placement.pa_cache=false",)),
        ),
        _ONLY_GRIT,
    ),
    "gpus": Sweep("number of GPUs", _values("node.preset", tuple(f"grit-{count}gpu" for count in (2, 4, 8, 16)))),
    "page-size": Sweep("page size", _values("memory.page_size", ("4KiB", "64KiB", "2MiB"))),
    "prefetch": Sweep("prefetch", _values("memory.prefetch", ("none", "tree"))),
    "eviction": Sweep("eviction", _values("memory.eviction", ("lru-page", "lru-block"))),
    "capacity": Sweep(
        "memory of the GPUs",
        (
            Setting("no limit", ("node.capacity.footprint_percent=0",)),
            Setting("70 % each", ("node.capacity.footprint_percent=70",)),
            Setting("70 % in all", ("node.capacity.footprint_percent=70", "node.capacity.scope=total")),
        ),
    ),
    "driver": Sweep("driver model", _values("node.driver.preset", ("paper", "hardware"))),
    "service": Sweep("driver service time", _values("node.driver.service.service", ("0.3125us", "1.25us", "5us"))),
    "remote": Sweep("remote lines in flight", _values("node.remote.lines_in_flight", (16, 64, 256, 0))),
    "links": Sweep("GPU link bandwidth", _values("node.gpu_link.bandwidth", ("150GB/s", "300GB/s", "900GB/s"))),
    "sharing": Sweep("who shares GPU links", _values("node.gpu_link.sharing", ("per-gpu", "per-pair"))),
    "dispatch": Sweep("dispatch of work-groups", tuple(Setting(one.label, (one.override,)) for one in NAMED)),
    "drain": Sweep(
        "which units drain (ACUD)", _values("node.driver.drain", ("whole-gpu", "touched-units")), _WITH_GRIFFIN
    ),
    "trans-fw": Sweep(
        "forwarding of far-fault walks (Trans-FW)",
        (
            Setting("off", ()),
            Setting("on", ("node.driver.trans_fw={filter_entries = 4096, fingerprint_bits = 8}",)),
        ),
        _WITH_GRIFFIN,
    ),
    "l2": Sweep(
        "reading of the L2's 256 KB",
        (
            Setting("a bank (2 MiB)", ()),
            Setting("in all", ("node.l2.size=256KiB", "node.l2.banks=1")),
        ),
    ),
}
"""Every sweep by the name that `octavo reproduce grit --sensitivity` takes."""


def sensitivity(name: str, study: Study) -> Found:
    """Run a sweep and leave its table and picture; errors as `Experiment.run`.

    Points have one row for each kernel, setting and placement; `speedup` is over on-touch in the same setting.
    `geometric_mean_speedup` has one row for each setting: geometric mean of the speed-ups by placement, and `on-touch
    over first`: how much faster on-touch itself is than in the first setting.
    """
    sweep = SWEEPS[name]
    variants = [_variant(setting, placement) for setting in sweep.settings for placement in sweep.placements]
    runs, outcome = study.compare(name, variants)
    parts = [_relative(outcome.points, setting, sweep.placements) for setting in sweep.settings]
    points, table = pl.concat(parts), _table(sweep, parts)
    document = {"varied": sweep.title, "geometric_mean_speedup": table, "points": points}
    shown = table.select("setting", *sweep.placements[1:])

    def draw(found: Found) -> None:
        path, xlabel = found.root / "speedup.png", "speed-up over on-touch"
        pictures.bars(path, shown, xlabel=xlabel, title=found.title, line_at=1.0)

    return runs.found(f"Varied: {sweep.title}", points, document, draw)


def _variant(setting: Setting, placement: str) -> Variant:
    options = setting.options if placement == "grit" else OPTIONS.get(placement, ())
    return Variant(_label(setting, placement), (*setting.overrides, f"memory.placement={placement}", *options))


def _label(setting: Setting, placement: str) -> str:
    return f"{setting.label}: {placement}"


def _relative(points: pl.DataFrame, setting: Setting, placements: tuple[str, ...]) -> pl.DataFrame:
    labels = [_label(setting, placement) for placement in placements]
    here = points.filter(pl.col("variant").is_in(labels))
    return with_speedup(here, labels[0]).with_columns(
        setting=pl.lit(setting.label), variant=pl.col("variant").str.strip_prefix(f"{setting.label}: ")
    )


def _table(sweep: Sweep, parts: list[pl.DataFrame]) -> pl.DataFrame:
    first = parts[0].filter(pl.col("variant") == BASELINE)["time_ps"].to_list()
    rows = []
    for setting, part in zip(sweep.settings, parts, strict=True):
        by = {name: part.filter(pl.col("variant") == name) for name in sweep.placements}
        speedups = {name: measures.geometric_mean(points["speedup"]) for name, points in by.items()}
        own = [before / now for before, now in zip(first, by[BASELINE]["time_ps"], strict=True)]
        rows.append({"setting": setting.label, **speedups, "on-touch over first": measures.geometric_mean(own)})
    return pl.DataFrame(rows)
