"""Everything a report's page shows, gathered from the result tables."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo._core import VERSION
from octavo.explain import what_if, words
from octavo.explain.compare import Difference
from octavo.explain.facts import facts, pairs
from octavo.quantities import bytes_of
from octavo.report import phases, shade, speed, stalls, sweep
from octavo.report.history import Footprint, coarsened, history
from octavo.report.pack import Packed, pack
from octavo.report.profiles import MOVED
from octavo.report.runs import ABSENT, differences
from octavo.report.series import lent, over_time
from octavo.report.traffic import by_kernel
from octavo.report.translation import translation
from octavo.runs import colours, events, unsourced_values
from octavo.runs.pressure import pressure
from octavo.scenarios.about import about

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octavo.report.runs import Run

_KERNELS = 400
"""The most kernel launches of a run that the page map marks."""
SAMPLED = "process_intervals"
"""A table that only programs sampled by `octavo profile` have."""
KINDS = {"names": events.KINDS, "requests": events.REQUESTS, "copies": events.COPIES}
"""Kinds of events, and which of them are requests or copies."""
_MAPPINGS = 30
"""The most mappings of a profile that the page lists."""
_TOTALS = ("migrations", "duplications", "collapses", "remote_maps", "prefetched")
_PROFILED = {
    "faults": (*events.GPU_FAULTS, "cpu_fault"),
    "migrations": MOVED["migrations"],
    "remote_maps": ("remote_map",),
    "prefetched": MOVED["prefetched"],
}
"""Totals that profiles have, too, and the kinds of events that they count."""


def gather(runs: Sequence[Run], against: str) -> dict[str, Any]:
    """All rows and texts of the page, except the page maps; speed-ups are over the variant `against`.

    Raises:
        OutputError: a table is damaged.

    """
    speedups = speed.speedups(runs, against)
    shades = shade.named("variants", shade.of(runs))
    several = len({run.group for run in runs}) > 1 or len(runs) == 1 or not all(run.simulated for run in runs)
    shown = [
        {
            **_run(run),
            "label": (run.label if several else run.variant) + (" (bound)" if run.bound else ""),
            "colour": shades[run.variant],
            **_why(run, _first(runs, run, against)),
        }
        for run in runs
    ]
    return {
        "octavo": VERSION,
        "baseline": against,
        "runs": shown,
        "zeros": len({run["zero_ms"] for run in shown}) > 1,
        "sweep": sweep.along(runs),
        **_scenarios(runs),
        "speedups": speedups,
        "means": speed.means(speedups),
        "published": speed.beside_published(runs, speedups),
        "causes": speed.causes(runs),
        "spent": {cause.replace("_", " "): text for cause, text in words.SPENT.items()},
        "stalls": stalls.rows(runs),
        "phases": phases.totals(runs),
        "spans": phases.spans(runs),
        "translation": translation(runs),
        "allocations": [row for run in runs for row in _allocations(run)],
        "mappings": [row for run in runs for row in _mappings(run)],
        "kernel_traffic": [row for run in runs for row in by_kernel(run)],
        **over_time(runs),
        **lent(runs),
    }


def _first(runs: Sequence[Run], run: Run, against: str) -> Run | None:
    """The baseline of a run, if it is another run."""
    found = (one for one in runs if one.group == run.group and one.variant == against)
    base = next(found, None)
    return base if base is not None and base.number != run.number and base.simulated and run.simulated else None


def page_map(run: Run, room: int) -> Packed | None:
    """The page map of a run that has recorded events, in about `room` characters of text.

    Raises:
        OutputError: a table is damaged.

    """
    if not has_events(run):
        return None
    footprint = Footprint.of(run.result, run.values["memory.page_size"])
    table = run.result.table("events")
    if not run.simulated:
        footprint, table = coarsened(run.result, footprint, table)
    past = history(table, footprint, run.summary["time_ps"], run.gpus + 1)
    return pack(past, footprint, room)


def has_events(run: Run) -> bool:
    """Whether single events were recorded."""
    return "events" in run.result.tables


def _run(run: Run) -> dict[str, Any]:
    summary = run.summary
    kernels = run.result.table("kernels") if "kernels" in run.result.tables else pl.DataFrame()
    return {
        "label": run.label,
        "group": run.group,
        "variant": run.variant,
        "placement": run.placement,
        "folder": run.result.folder.name,
        "time_ms": summary["time_ps"] / 1e9,
        "zero_ms": int(kernels["began_ps"].min()) / 1e9 if kernels.height else 0.0,  # type: ignore[arg-type]
        "low_ms": run.time.low / 1e9,
        "high_ms": run.time.high / 1e9,
        "replicates": run.time.count,
        "footprint": summary["footprint_bytes"],
        "capacity": summary["capacity_bytes"],
        "gpus": run.gpus,
        "simulated": run.simulated,
        "page_bytes": bytes_of(run.values["memory.page_size"]),
        **(_simulated(summary) if run.simulated else _profiled(run)),
        "events": has_events(run),
        "intervals": "intervals" in run.result.tables,
        "sampled": SAMPLED in run.result.tables,
        "launches": kernels.height,
        "kernels": [
            [row["kernel"], row["began_ps"], row["ended_ps"]] for row in kernels.head(_KERNELS).iter_rows(named=True)
        ],
    }


def _why(run: Run, base: Run | None) -> dict[str, Any]:
    """What bound a simulated run, how it differs from the baseline, what would help, and what its faults waited for."""
    if not run.simulated:
        return {"why": [], "waits": [], "tried": False}
    found = facts(run.result)
    sentences = [*words.run(run.variant, found), *words.pairs(pairs(run.result))]
    if base is not None:
        if run.time.count > 1 and run.time.overlaps(base.time):
            sentences.append(f"{run.variant} and {base.variant} are a tie: the intervals of their replicates overlap.")
        sentences += Difference((base.variant, run.variant), (facts(base.result), found)).sentences
    folder = what_if.beside(run.result.folder)
    tried = what_if.kept(run.result, folder) if folder.is_dir() else []
    sentences += words.remedies(tried or None)
    size, node = pressure(run.result), about(run.result.scenario.values).sentence
    sentences += [f"Size: {size.sentence}", *size.notes]
    sentences += [said for said in (node, unsourced_values.sentence(unsourced_values.decided(run.result))) if said]
    rows = [{**asdict(one), "part": words.WAITED[one.part]} for one in found.waits]
    return {"why": sentences, "waits": rows, "tried": bool(tried)}


def _simulated(summary: Mapping[str, Any]) -> dict[str, Any]:
    manager, accesses = summary["manager"], summary["accesses"]
    return {
        "lines": accesses["load_lines"] + accesses["store_lines"],
        "remote_lines": accesses["remote_gpu_lines"] + accesses["remote_host_lines"],
        "faults": manager["far_faults"] + manager["protection_faults"],
        **{name: manager[name] for name in _TOTALS},
        "schemes": any(count for scheme, count in manager["pages_by_scheme"].items() if scheme != "none"),
    }


def _profiled(run: Run) -> dict[str, Any]:
    """Pages of each kind, in the words of runs; empty if the profile does not count them."""
    counts: dict[str, int] = {}
    if has_events(run):
        pages = dict(run.result.table("events").group_by("kind").agg(pl.col("pages").sum()).iter_rows())
        counts = {name: sum(pages.get(kind, 0) for kind in of) for name, of in _PROFILED.items()}
    return {"lines": None, "remote_lines": None, "faults": None, **dict.fromkeys(_TOTALS), **counts, "schemes": False}


def _scenarios(runs: Sequence[Run]) -> dict[str, Any]:
    """What all scenarios have in common, and where they differ."""
    values = [run.values for run in runs]
    simulated = [run.values for run in runs if run.simulated]
    differing = differences(simulated)
    common = {key: value for own in simulated[:1] for key, value in own.items() if key not in differing}
    return {
        "common": common,
        "differing": [{"key": key, "values": [flat.get(key, ABSENT) for flat in values]} for key in differing],
    }


def _allocations(run: Run) -> list[dict[str, Any]]:
    if "allocations" not in run.result.tables:
        return []
    return [{"run": run.number, **row} for row in run.result.rows("allocations")]


def _mappings(run: Run) -> list[dict[str, Any]]:
    """The mappings of a program that were largest in memory."""
    if SAMPLED not in run.result.tables:
        return []
    largest = run.result.table("mappings").sort("resident_bytes", descending=True, maintain_order=True)
    return [{"run": run.number, **row} for row in largest.head(_MAPPINGS).to_dicts()]


def legends(runs: Sequence[Run]) -> dict[str, dict[str, str]]:
    """The meanings of colours, in order: causes, memories, variants and lines of a sweep."""
    gpus = max((run.gpus for run in runs), default=0)
    used = {row["cause"] for row in speed.causes(runs)}
    memories = ["host", *_memories(runs), *(f"gpu{number}" for number in range(gpus))]
    found = sweep.along(runs)
    return {
        "causes": {
            name: colour for cause, colour in colours.CAUSES.items() if (name := cause.replace("_", " ")) in used
        },
        "memories": dict(zip(memories, colours.memories(memories), strict=True)),
        "variants": shade.of(runs),
        "series": found["colours"] if found else {},
    }


def _memories(runs: Sequence[Run]) -> list[str]:
    """Names of the host's memories beyond its first."""
    tables = [run.result.table("memory_intervals") for run in runs if "memory_intervals" in run.result.tables]
    found = {name for table in tables for name in table["processor"].unique().to_list() if name.startswith("host")}
    return sorted(found - {"host"}, key=lambda name: int(name[4:]))
