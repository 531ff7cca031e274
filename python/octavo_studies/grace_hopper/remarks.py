"""The qualitative statements of the study beside what was found: whether each holds, and the numbers that say so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from octavo_studies.grace_hopper.programs import PROGRAMS
from octavo_studies.published import published

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Frames = dict[str, pl.DataFrame]
"""Points of the parts that were run, by the part's name."""
Verdict = tuple[bool | None, str, str]
"""Whether a statement holds (None: in part), what was found, and why."""

FAR = 1.1
"""Slow-down of managed memory over the slow-down of system memory, from which managed memory is hurt far more;
chosen."""


def judged(frames: Mapping[str, pl.DataFrame]) -> list[dict[str, Any]]:
    """One row for each statement that the parts say something about: `statement`, `found`, `holds`, `why`."""
    rows = []
    for name, text in published("grace_hopper")["statements"].items():
        part, judge = _JUDGES[name]
        if part not in frames or (verdict := judge(frames[part])) is None:
            continue
        holds, found, why = verdict
        words = {True: "yes", False: "no", None: "in part"}
        rows.append({"statement": text, "found": found, "holds": words[holds], "why": why})
    return rows


def _cpu_initialised(points: pl.DataFrame) -> Verdict | None:
    return _faster(points, "CPU", "system", "managed")


def _gpu_initialised(points: pl.DataFrame) -> Verdict | None:
    return _faster(points, "GPU", "managed", "system")


def _faster(points: pl.DataFrame, side: str, one: str, other: str) -> Verdict | None:
    """Whether one kind is faster than another for all programs that a side initialises, allocation counted."""
    speeds = _speeds(points, side, one, other)
    if not speeds:
        return None
    return _all(speeds), f"{one} over {other}: {_listed(speeds)}", _causes(points, speeds)


def _explicit_beaten(points: pl.DataFrame) -> Verdict | None:
    speeds = _speeds(points, "CPU", "system", "explicit")
    if not speeds:
        return None
    holds = any(speed > 1 for speed in speeds.values())
    return holds, f"system over explicit: {_listed(speeds)}", _causes(points, speeds)


def _speeds(points: pl.DataFrame, side: str, one: str, other: str) -> dict[str, float]:
    times = {
        (row["program"], row["kind"]): row["with_allocation_ps"]
        for row in points.to_dicts()
        if PROGRAMS[row["program"]].initialised_by == side
    }
    programs = dict.fromkeys(program for program, _ in times)
    pairs = [name for name in programs if (name, one) in times and (name, other) in times]
    return {name: times[name, other] / times[name, one] for name in pairs}


def _causes(points: pl.DataFrame, programs: Mapping[str, float]) -> str:
    """What each kind did, of the program with the largest difference."""
    name = max(programs, key=lambda program: max(programs[program], 1 / programs[program]))
    parts = []
    for row in points.filter(program=name).to_dicts():
        did = [
            f"{row['copied_bytes'] >> 10} KiB copied" if row["copied_bytes"] else "",
            f"{row['faults']} faults" if row["faults"] else "",
            f"{row['migrated_in_bytes'] >> 10} KiB moved in" if row["migrated_in_bytes"] else "",
            f"{row['remote_lines']} remote lines" if row["remote_lines"] else "",
            f"{row['deallocation_ps'] / 1e9:.2f} ms freeing",
        ]
        parts.append(f"{row['kind']} {', '.join(one for one in did if one)}")
    return f"{name}: " + "; ".join(parts)


def _srad_improves(points: pl.DataFrame) -> Verdict | None:
    verdicts = {
        image: (found["time_ps"][0] / found["time_ps"][-1], found["to_gpu_bytes"].to_list())
        for image in points["image by"].unique(maintain_order=True)
        for found in [points.filter((pl.col("kind") == "system") & (pl.col("image by") == image))]
        if found.height
    }
    if not verdicts:
        return None
    holds = _some(ratio > FAR for ratio, _ in verdicts.values())
    found = "; ".join(
        f"image by the {image}: first iteration {ratio:.2f} times the last" for image, (ratio, _) in verdicts.items()
    )
    why = "; ".join(
        f"image by the {image}: {crossed[0] >> 10} KiB to the GPU in the first, {crossed[-1] >> 10} in the last"
        for image, (_, crossed) in verdicts.items()
    )
    return holds, found, why


def _srad_overtakes(points: pl.DataFrame) -> Verdict | None:
    """By the last iteration, and by all of them together."""
    last = points.filter(pl.col("iteration") == pl.col("iteration").max())
    by_end, by_sum = _of_managed(last), _of_managed(points)
    if not by_end:
        return None
    holds = _some(ratio > 1 for ratio in (*by_end.values(), *by_sum.values()))
    why = "; ".join(
        f"{row['kind']}, image by the {row['image by']}: {row['to_gpu_bytes'] >> 10} KiB to the GPU, "
        f"{row['to_cpu_bytes'] >> 10} back"
        for row in last.to_dicts()
    )
    found = f"system over managed, last iteration: {_listed(by_end)}; all iterations: {_listed(by_sum)}"
    return holds, found, f"last iteration: {why}"


def _of_managed(points: pl.DataFrame) -> dict[str, float]:
    """Speed of system memory over managed memory, by who writes the image."""
    sums = points.group_by("image by", "kind", maintain_order=True).agg(pl.col("time_ps").sum())
    times = {(row["image by"], row["kind"]): row["time_ps"] for row in sums.to_dicts()}
    images = [image for image, kind in times if kind == "system" and (image, "managed") in times]
    return {f"image by the {image}": times[image, "managed"] / times[image, "system"] for image in images}


def _oversubscription(points: pl.DataFrame) -> Verdict | None:
    most = points.filter(pl.col("asked") == pl.col("asked").max())
    slow = {(row["program"], row["kind"]): row["slowdown"] for row in most.to_dicts()}
    programs = [name for name, kind in slow if kind == "system" and (name, "managed") in slow]
    if not programs:
        return None
    ratios = {name: slow[name, "managed"] / slow[name, "system"] for name in programs}
    holds = _some(ratio > FAR for ratio in ratios.values())
    found = ", ".join(f"{name} {slow[name, 'managed']:.2f} and {slow[name, 'system']:.2f}" for name in programs)
    evicted = ", ".join(f"{row['program']} {row['evicted_pages']}" for row in most.filter(kind="managed").to_dicts())
    asked = most["asked"].to_list()[0]
    return holds, f"slow-down at {asked:g}, managed and system: {found}", f"pages evicted, managed: {evicted}"


def _pages_help(points: pl.DataFrame) -> Verdict | None:
    return _by_pages(points.filter(_by("GPU")), "initialise_ps", "first launch of system memory", helps=True)


def _pages_hurt(points: pl.DataFrame) -> Verdict | None:
    return _by_pages(points.filter(_by("CPU")), "computation_ps", "computation", helps=False)


def _deallocation(points: pl.DataFrame) -> Verdict | None:
    return _by_pages(points, "deallocation_ps", "de-allocation of system memory", helps=True)


def _by(side: str) -> pl.Expr:
    return pl.col("program").is_in([name for name, program in PROGRAMS.items() if program.initialised_by == side])


def _by_pages(points: pl.DataFrame, measure: str, what: str, *, helps: bool) -> Verdict | None:
    """How much faster something is with large pages, by program; for what hurts, under managed memory, too."""
    kinds = ("system",) if helps else ("system", "managed")
    ratios: dict[str, float] = {}
    why = []
    for (program, kind), found in points.group_by("program", "kind", maintain_order=True):
        by_size = {row["pages"]: row for row in found.to_dicts()}
        if kind not in kinds or len(by_size) < 2:
            continue
        small, large = by_size["4KiB"], by_size["64KiB"]
        ratios[f"{program} {kind}" if len(kinds) > 1 else str(program)] = small[measure] / max(large[measure], 1)
        if kind == "managed" or helps:
            moved = f"{small['migrated_in_bytes'] >> 10} and {large['migrated_in_bytes'] >> 10} KiB moved"
            why.append(f"{program}: {small['faults']} and {large['faults']} faults, {moved}")
    if not ratios:
        return None
    holds = _some(ratio > 1 if helps else ratio < 1 for ratio in ratios.values())
    return holds, f"{what}, 4 KiB over 64 KiB: {_listed(ratios)}", "; ".join(why)


def _prefetch(points: pl.DataFrame) -> Verdict | None:
    speeds = {
        f"{row['program']} {row['prefetch']}": row["speed"]
        for row in points.to_dicts()
        if row["prefetch"].startswith("before")
    }
    if not speeds:
        return None
    best: dict[str, float] = {}
    for row in points.filter(pl.col("prefetch").str.starts_with("before")).to_dicts():
        best[row["program"]] = max(best.get(row["program"], 0.0), row["speed"])
    faults = "; ".join(f"{row['program']}, {row['prefetch']}: {row['faults']} faults" for row in points.to_dicts())
    return _some(speed > 1 for speed in best.values()), f"speed over no prefetch: {_listed(speeds)}", faults


def _populated(points: pl.DataFrame) -> Verdict | None:
    tried = points.filter(pl.col("remedy") != "none")
    speeds = {f"{row['program']} {row['pages']} {row['remedy']}": row["speed"] for row in tried.to_dicts()}
    best = tried.group_by("program", "pages").agg(pl.col("speed").max())["speed"].to_list()
    why = "; ".join(
        f"{row['program']} {row['pages']} {row['remedy']}: {row['before_ps'] / 1e9:.2f} ms before the first launch, "
        f"{row['initialise_ps'] / 1e9:.2f} in it, {row['remote_lines']} remote lines"
        for row in points.to_dicts()
    )
    return _some(speed > 1 for speed in best), f"speed over no remedy: {_listed(speeds)}", why


def _all(speeds: Mapping[str, float]) -> bool | None:
    return _some(speed > 1 for speed in speeds.values())


def _some(each: Any) -> bool | None:
    """True of all, False of none, None of some."""
    verdicts = list(each)
    return True if all(verdicts) else None if any(verdicts) else False


def _listed(ratios: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())


_JUDGES: Mapping[str, tuple[str, Callable[[pl.DataFrame], Verdict | None]]] = {
    "cpu-initialised": ("kinds", _cpu_initialised),
    "explicit-beaten": ("kinds", _explicit_beaten),
    "gpu-initialised": ("kinds", _gpu_initialised),
    "srad-improves": ("srad", _srad_improves),
    "srad-overtakes": ("srad", _srad_overtakes),
    "oversubscription": ("oversubscription", _oversubscription),
    "large-pages-help": ("page-sizes", _pages_help),
    "large-pages-hurt": ("page-sizes", _pages_hurt),
    "deallocation": ("page-sizes", _deallocation),
    "prefetch": ("prefetch", _prefetch),
    "populated": ("remedies", _populated),
}
"""The part that says something about a statement, and what it says."""
