"""Remarks of the study, judged by rows of its parts: whether each holds, and the numbers that say so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from octavo_studies.engine import Judge, Judged, Remarks
from octavo_studies.engine.remarks import HOLDS, IN_PART, NO, listed
from octavo_studies.grace_hopper.programs import PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Verdict = tuple[bool | None, str, str]
"""Whether a remark holds (None: in part), what was found, and by what."""

FAR = 1.1
"""Slow-down of managed memory over the slow-down of system memory, from which managed memory is hurt far more;
chosen."""
EQUAL = 1.01
"""Times within this ratio are equal where pages of two sizes are compared; chosen."""
_NEARLY_ALL = 0.8
"""Share of a difference that is nearly all of it; chosen."""
QUANTUM = "quantum-volume"


def _cpu_initialised(points: pl.DataFrame) -> Verdict | None:
    return _faster(points, "CPU", "system", "managed")


def _gpu_initialised(points: pl.DataFrame) -> Verdict | None:
    return _faster(points, "GPU", "managed", "system")


def _faster(points: pl.DataFrame, side: str, one: str, other: str) -> Verdict | None:
    """Whether one kind is faster than another for all programs that a side initialises, allocation counted."""
    speeds = _speeds(points, side, one, other)
    if not speeds:
        return None
    return _all(speeds), f"{one} over {other}: {listed(speeds)}", _causes(points, speeds)


def _explicit_beaten(points: pl.DataFrame) -> Verdict | None:
    speeds = _speeds(points, "CPU", "system", "explicit")
    if not speeds:
        return None
    holds = any(speed > 1 for speed in speeds.values())
    return holds, f"system over explicit: {listed(speeds)}", _causes(points, speeds)


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
    found = f"system over managed, last iteration: {listed(by_end)}; all iterations: {listed(by_sum)}"
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
    holds = _some(ratio > EQUAL if helps else ratio < 1 / EQUAL for ratio in ratios.values())
    return holds, f"{what}, 4 KiB over 64 KiB: {listed(ratios)}", "; ".join(why)


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
    return _some(speed > 1 for speed in best.values()), f"speed over no prefetch: {listed(speeds)}", faults


def _populated(points: pl.DataFrame) -> Verdict | None:
    tried = points.filter(pl.col("remedy") != "none")
    speeds = {f"{row['program']} {row['pages']} {row['remedy']}": row["speed"] for row in tried.to_dicts()}
    best = tried.group_by("program", "pages").agg(pl.col("speed").max())["speed"].to_list()
    why = "; ".join(
        f"{row['program']} {row['pages']} {row['remedy']}: {row['before_ps'] / 1e9:.2f} ms before the first launch, "
        f"{row['initialise_ps'] / 1e9:.2f} in it, {row['remote_lines']} remote lines"
        for row in points.to_dicts()
    )
    return _some(speed > 1 for speed in best), f"speed over no remedy: {listed(speeds)}", why


def _all(speeds: Mapping[str, float]) -> bool | None:
    return _some(speed > 1 for speed in speeds.values())


def _some(each: Any) -> bool | None:
    """True of all, False of none, None of some."""
    verdicts = list(each)
    return True if all(verdicts) else None if any(verdicts) else False


def _each_side(points: pl.DataFrame) -> Verdict | None:
    """System memory where the CPU initialises, managed memory where the GPU does."""
    by_cpu, by_gpu = _cpu_initialised(points), _gpu_initialised(points)
    if by_cpu is None or by_gpu is None:
        return None
    return by_cpu[0] if by_cpu[0] == by_gpu[0] else None, f"{by_cpu[1]}; {by_gpu[1]}", ""


def _explicit_first(points: pl.DataFrame) -> Verdict | None:
    times = {row["kind"]: row["with_allocation_ps"] for row in points.filter(program=QUANTUM).to_dicts()}
    if "explicit" not in times or len(times) < 2:
        return None
    ratios = {kind: time / times["explicit"] for kind, time in times.items()}
    return min(ratios.values()) == 1, f"time over explicit: {listed(ratios)}", ""


def _traffic(points: pl.DataFrame) -> Verdict | None:
    """Of programs that the CPU initialises: pages move under managed memory, lines alone under system memory."""
    rows = points.filter(_by("CPU")).to_dicts()
    managed = {row["program"]: row["migrated_in_bytes"] for row in rows if row["kind"] == "managed"}
    system = {row["program"]: row for row in rows if row["kind"] == "system"}
    if not managed or not system:
        return None
    alone = (row["remote_lines"] > 0 == row["migrated_in_bytes"] for row in system.values())
    moved = {name: f"{count >> 10} KiB" for name, count in managed.items()}
    lines = {name: row["remote_lines"] for name, row in system.items()}
    found = f"moved under managed memory: {listed(moved, '')}; remote lines under system memory: {listed(lines, '')}"
    return _some([*(count > 0 for count in managed.values()), *alone]), found, ""


def _nothing_moves(points: pl.DataFrame) -> Verdict | None:
    rows = points.filter(_by("GPU") & (pl.col("kind") == "managed")).to_dicts()
    moved = {row["program"]: row["migrated_in_bytes"] for row in rows}
    if not moved:
        return None
    return _some(count == 0 for count in moved.values()), f"bytes moved in: {listed(moved, '')}", ""


def _all_in_initialisation(points: pl.DataFrame) -> Verdict | None:
    """Quantum volume with the most qubits: what system memory takes longer, and how much of it in the first launch."""
    most = points.filter(pl.col("qubits") == pl.col("qubits").max())
    by = {(row["kind"], row["pages"]): row for row in most.to_dicts()}
    shares = {}
    for size in most["pages"].unique(maintain_order=True):
        if ("system", size) not in by or ("managed", size) not in by:
            return None
        system, managed = by["system", size], by["managed", size]
        longer = system["time_ps"] - managed["time_ps"]
        first = system["initialise_ps"] - managed["initialise_ps"]
        shares[size] = first / longer if longer > 0 else 0.0
    holds = _some(share >= _NEARLY_ALL for share in shares.values())
    return holds, f"share of the difference that the first launch has: {listed(shares)}", ""


def _first_is_slow(points: pl.DataFrame) -> Verdict | None:
    ratios = {
        str(image): rows["time_ps"][0] / rows["time_ps"][-1]
        for (image,), rows in points.filter(kind="managed").group_by("image by", maintain_order=True)
    }
    if not ratios:
        return None
    return _some(ratio > 2 for ratio in ratios.values()), f"first over last, image by: {listed(ratios)}", ""


def _over_the_link(points: pl.DataFrame) -> Verdict | None:
    rows = points.filter(memory="managed").to_dicts()
    if not rows:
        return None
    (row,) = rows
    link, own = (row[f"{name}_bytes_per_second"] / 1e9 for name in ("C2C", "HBM"))
    return link > own, f"{link:.1f} GB/s over the link, {own:.1f} GB/s from HBM", ""


def _prefetched(points: pl.DataFrame) -> Verdict | None:
    by = {row["memory"]: row for row in points.to_dicts()}
    if "managed" not in by or "managed, prefetch" not in by:
        return None
    ratios = {
        name: by["managed, prefetch"][f"{name}_bytes_per_second"] / max(by["managed"][f"{name}_bytes_per_second"], 1)
        for name in ("HBM", "L1-L2")
    }
    return _some(ratio > FAR for ratio in ratios.values()), f"with prefetch over without: {listed(ratios)}", ""


def _judge(part: str, of: Callable[[pl.DataFrame], Verdict | None]) -> Judge:
    def judge(points: pl.DataFrame) -> Judged | None:
        verdict = of(points)
        if verdict is None:
            return None
        holds, found, why = verdict
        return Judged({True: HOLDS, False: NO, None: IN_PART}[holds], "; ".join(one for one in (found, why) if one))

    return Judge((part,), judge)


REMARKS = Remarks(
    "grace_hopper",
    {
        "GH22": _judge("kinds", _cpu_initialised),
        "GH23": _judge("kinds", _explicit_first),
        "GH27": _judge("qubits", _all_in_initialisation),
        "GH29": _judge("kinds", _traffic),
        "GH30": _judge("kinds", _nothing_moves),
        "GH31": _judge("kinds", _each_side),
        "GH32": _judge("remedies", _populated),
        "GH35": _judge("srad", _first_is_slow),
        "GH38": _judge("oversubscription", _oversubscription),
        "GH39": _judge("throughput", _over_the_link),
        "GH40": _judge("throughput", _prefetched),
        "S1": _judge("kinds", _explicit_beaten),
        "S2": _judge("srad", _srad_improves),
        "S3": _judge("srad", _srad_overtakes),
        "S4": _judge("page-sizes", _pages_help),
        "S5": _judge("page-sizes", _pages_hurt),
        "S6": _judge("page-sizes", _deallocation),
        "S7": _judge("prefetch", _prefetch),
    },
    {
        "kinds": (
            *("program", "kind", "with_allocation_ps", "copied_bytes", "faults", "migrated_in_bytes"),
            *("remote_lines", "deallocation_ps"),
        ),
        "qubits": ("kind", "pages", "qubits", "time_ps", "initialise_ps"),
        "remedies": ("program", "pages", "remedy", "speed", "before_ps", "initialise_ps", "remote_lines"),
        "srad": ("kind", "image by", "iteration", "time_ps", "to_gpu_bytes", "to_cpu_bytes"),
        "oversubscription": ("program", "kind", "asked", "slowdown", "evicted_pages"),
        "throughput": ("memory", *(f"{name}_bytes_per_second" for name in ("C2C", "HBM", "L1-L2"))),
        "page-sizes": (
            *("program", "kind", "pages", "faults", "migrated_in_bytes"),
            *("initialise_ps", "computation_ps", "deallocation_ps"),
        ),
        "prefetch": ("program", "prefetch", "speed", "faults"),
    },
)
