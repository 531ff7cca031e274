"""(i) and (j): what a TLB miss holds up, how long a walk takes, how wide the bus is; inputs of other sizes.

The publication does not say these things; the simulator that its authors published does (its shipped configuration may
not be the one behind the figures). No machine here is chosen by the average that it leads to: all are shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from octavo.errors import ScenarioError
from octavo.reproduce.mosaic import systems
from octavo.reproduce.mosaic.published import published
from octavo.reproduce.mosaic.study import Part
from octavo.runs import pictures

if TYPE_CHECKING:
    from octavo.reproduce.mosaic.study import Key, Study
    from octavo.runs.experiment import Variant

SIZES = {"4 KiB pages": systems.GPU_MMU, "2 MiB pages": systems.LARGE}

UNDER_MISSES = "node.l1_tlb.on_miss=hits-under-misses"
BLOCKING = "node.l1_tlb.on_miss=blocking"
"""The published simulator: the load/store unit tries a missed access again each cycle, and what is behind it waits
(shader.cc, `memory_cycle`)."""
DELAY = "node.l2.crossbar=68cycles"
"""120 cycles on the way to the second level (`-rop_latency` of its GTX 480), half of them each way, beside the
crossbar's 8; data and walks alike."""
NARROW = "node.dram.line_cycles=35cycles"
"""88.7 GB/s: 924 MHz x 4 x 4 B x 6 channels, as shipped; 48 banks of 64 bytes in 35 cycles are 89.5 GB/s."""


@dataclass(frozen=True)
class Machine:
    """One way to answer what the publication leaves open."""

    name: str
    overrides: tuple[str, ...]
    always: bool = False
    """Whether a reduced study has it, too."""


MACHINES = (
    Machine("non-blocking", (), always=True),
    Machine("hits under one miss", (UNDER_MISSES, "node.l1_tlb.miss_registers=1"), always=True),
    Machine("blocking", (BLOCKING,), always=True),
    Machine("non-blocking, delay", (DELAY,)),
    Machine("non-blocking, narrow bus", (NARROW,)),
    Machine("blocking, delay", (BLOCKING, DELAY)),
    Machine("blocking, delay, narrow bus", (BLOCKING, DELAY, NARROW), always=True),
)

SHIPPED = {
    "gups": ("workload.words=524288",),
    "red": ("workload.elements=262144",),
    "scan": ("workload.elements=262144",),
    "bfs2": ("workload.nodes=32768",),
    "lud": ("workload.rows=256",),
}
"""Inputs that come with the published simulator: 4 MiB, 1 MiB, 1 MiB, 32 k nodes, 256 x 256."""

Settings = dict[str, dict[str, tuple[str, ...]]]
"""What is varied: by name, the changes for each application."""


def machines(study: Study) -> Part:
    """Average loss of each page size against the ideal TLB of the same machine, all pages being in memory."""
    chosen = [machine for machine in MACHINES if machine.always or not study.ends]
    settings = {machine.name: dict.fromkeys(study.applications, machine.overrides) for machine in chosen}
    part, key = _losses(study, "machines", settings, "Loss against the ideal TLB of the same machine")
    for row in part.means.to_dicts():
        for size, loss in published().loss_without_paging.items():
            part.compared.append({"what": f"{row['setting']}, {size}", "found": row[size], "published": loss})
    return part.save(key, lambda: _draw(part))


def inputs(study: Study) -> Part:
    """The same losses with the study's inputs and with those that the published simulator ships, where it has others.

    Raises:
        ScenarioError: none of the applications has another input there.

    """
    chosen = [name for name in study.applications if name in SHIPPED]
    if not chosen:
        names = ", ".join(SHIPPED)
        raise ScenarioError(f"part `inputs`: expected at least one of {names}, which ship with another input")
    settings: Settings = {"the study's": dict.fromkeys(chosen, ()), "shipped": {name: SHIPPED[name] for name in chosen}}
    part, key = _losses(study, "inputs", settings, "Loss against the ideal TLB, by input")
    return part.save(key, lambda: _draw(part))


def _losses(study: Study, name: str, settings: Settings, title: str) -> tuple[Part, str]:
    systems_of = {"ideal": systems.IDEAL, **SIZES}
    wanted: dict[Key, Variant] = {
        ((application,), variant.label): variant
        for setting, changes in settings.items()
        for application, overrides in changes.items()
        for system in systems_of.values()
        for variant in [_variant(system, setting, overrides)]
    }
    root, key, results = study.run(name, wanted)

    def time(system: Variant, setting: str, application: str) -> int:
        label = _variant(system, setting, settings[setting][application]).label
        return int(results[(application,), label].summary["time_ps"])

    def row(setting: str, application: str) -> dict[str, str | float]:
        ideal = time(systems.IDEAL, setting, application)
        losses = {size: 1 - ideal / time(system, setting, application) for size, system in SIZES.items()}
        return {"setting": setting, "application": application, **losses}

    points = pl.DataFrame([row(setting, application) for setting in settings for application in settings[setting]])
    means = points.group_by("setting", maintain_order=True).agg(pl.col(size).mean() for size in SIZES)
    return Part(root, title, points, means, []), key


def _variant(system: Variant, setting: str, overrides: tuple[str, ...]) -> Variant:
    return systems.changed(systems.without_paging(system), setting, *overrides)


def _draw(part: Part) -> None:
    shown = part.means.with_columns(pl.col(size) * 100 for size in SIZES)
    pictures.bars(part.root / "losses.png", shown, xlabel="loss (%)", title=part.title)
