"""GRIT's remarks, judged by rows of the main study, the partition, walks and sweeps.

Where the publication has words for a share, ranges are chosen once: "a large part" is a quarter, "little" a tenth,
"nearly all" nine tenths. Speeds within 3 % are equal.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

import polars as pl

from octavo.runs import measures
from octavo_studies.engine import Judge, Judged, Remarks
from octavo_studies.engine.remarks import HOLDS, IN_PART, NO, listed, verdict
from octavo_studies.grit.main import UNIFORM
from octavo_studies.grit.partition_statements import STATEMENTS

if TYPE_CHECKING:
    from collections.abc import Callable

HANDLING = ("walk", "host", "migration", "remote_access", "duplication", "write_collapse")
"""The six parts of page handling."""
MAIN, PARTITION, BUFFERS, WALKS = "main", "partition", "buffers", "walks"
SWEPT = ("threshold", "components", "page-size", "trans-fw")
"""Sweeps that remarks are judged by."""
DISPATCH = "even-split"
"""The dispatch of the study."""
_EQUAL = 1.03
_LARGE, _LITTLE, _WIDE, _NEARLY_ALL = 0.25, 0.1, 1.2, 0.9


def _speeds(main: pl.DataFrame) -> dict[str, dict[str, float]]:
    """Speed over on-touch by kernel and placement."""
    found: dict[str, dict[str, float]] = {}
    for row in main.to_dicts():
        found.setdefault(row["workload"], {})[row["variant"]] = row["speedup"]
    return found


def _best(main: pl.DataFrame) -> dict[str, str]:
    return {kernel: max(UNIFORM, key=lambda name: speed[name]) for kernel, speed in _speeds(main).items()}


def _none_wins(main: pl.DataFrame) -> Judged:
    best = _best(main)
    kinds = len(set(best.values()))
    found = ", ".join(f"{kernel} {name}" for kernel, name in best.items())
    return Judged({3: HOLDS, 2: IN_PART}.get(kinds, NO), f"fastest uniform scheme: {found}")


def _order(main: pl.DataFrame) -> Judged:
    speeds = _speeds(main).values()
    mean = {name: measures.geometric_mean(speed[name] for speed in speeds) for name in UNIFORM}
    touch, counter, duplication = (mean[name] for name in UNIFORM)
    return Judged(verdict([duplication > counter, counter > touch]), f"average speed: {listed(mean)}")


def _not_everywhere(main: pl.DataFrame) -> Judged:
    best = _best(main)
    others = [kernel for kernel, name in best.items() if name != "duplication"]
    return Judged(HOLDS if others else NO, f"another is faster on {', '.join(others) or 'none'}")


def _share(main: pl.DataFrame, scheme: str, cause: str) -> dict[str, float]:
    """Share of a cause in all page handling under a scheme, by kernel."""
    rows = main.filter(variant=scheme).to_dicts()
    return {row["workload"]: row[f"{cause}_ps"] / max(sum(row[f"{name}_ps"] for name in HANDLING), 1) for row in rows}


def _six_parts(main: pl.DataFrame) -> Judged:
    most = {name: max(max(_share(main, scheme, name).values()) for scheme in UNIFORM) for name in HANDLING}
    return Judged(verdict(share > 0 for share in most.values()), f"largest share: {listed(most, '.0%')}")


def _migration_is_large(main: pl.DataFrame) -> Judged:
    found = _share(main, "on-touch", "migration")
    return Judged(verdict(share >= _LARGE for share in found.values()), f"share: {listed(found, '.0%')}")


def _counters_shift(main: pl.DataFrame) -> Judged:
    def total(scheme: str, cause: str) -> float:
        """Milliseconds of all kernels."""
        return int(main.filter(variant=scheme)[f"{cause}_ps"].sum()) / 1e9

    (before, moved), (near, remote) = (
        (total("on-touch", cause), total("access-counter", cause)) for cause in ("migration", "remote_access")
    )
    found = f"ms, on-touch and counters: migration {before:.0f}, {moved:.0f}; remote access {near:.0f}, {remote:.0f}"
    return Judged(verdict([moved < before / 2, remote > near]), found)


def _duplication_replaces(main: pl.DataFrame) -> Judged:
    moved, remote = (_share(main, "duplication", cause) for cause in ("migration", "remote_access"))
    holds = (share < 0.01 for share in (*moved.values(), *remote.values()))
    return Judged(verdict(holds), f"migration: {listed(moved, '.0%')}; remote at most {max(remote.values()):.0%}")


def _little_collapse(main: pl.DataFrame) -> Judged:
    found = {kernel: _share(main, "duplication", "write_collapse")[kernel] for kernel in ("bfs", "gemm", "mm")}
    return Judged(verdict(share < _LITTLE for share in found.values()), f"share: {listed(found, '.0%')}")


def _statements(chosen: Callable[[str], bool]) -> Callable[[pl.DataFrame], Judged]:
    """Statements about sharing whose text is chosen, under the study's dispatch."""

    def judge(partition: pl.DataFrame) -> Judged:
        rows = {row["kernel"]: row for row in partition.filter(dispatch=DISPATCH).to_dicts()}
        about = [one for one in STATEMENTS if one.kernel in rows and chosen(one.text)]
        found = ", ".join(f"{one.kernel} {one.measure.replace('_', ' ')} {_told(rows, one)}" for one in about)
        return Judged(verdict(one.holds(rows[one.kernel][one.measure]) for one in about), found)

    return judge


def _told(rows: dict[str, dict[str, float]], one: object) -> str:
    share = rows[one.kernel][one.measure]  # type: ignore[attr-defined]  # a statement
    return "–" if share is None else f"{share:.0%}"


def _dominant(partition: pl.DataFrame) -> Judged:
    """Most accesses go to the kind of pages that are most."""
    rows = partition.filter(dispatch=DISPATCH).to_dicts()
    agree = {row["kernel"]: (row["shared_pages"] > 0.5) == ((row["shared_accesses"] or 0) > 0.5) for row in rows}
    expected = {kernel: kernel != "bfs" for kernel in agree}
    against = [kernel for kernel in agree if agree[kernel] != expected[kernel]]
    return Judged(
        verdict(agree[kernel] == expected[kernel] for kernel in agree), f"otherwise on {', '.join(against) or 'none'}"
    )


def _segments(buffers: pl.DataFrame) -> Judged:
    """GEMM's inputs are read by several GPUs and never written; pages of its output belong to one GPU each."""
    rows = buffers.filter(kernel="gemm").to_dicts()
    shared = {row["buffer"]: row["shared_pages"] / row["pages"] for row in rows}
    inputs = [shared[row["buffer"]] > 0 for row in rows if not row["stores"]]
    outputs = [shared[row["buffer"]] <= 1 - _NEARLY_ALL for row in rows if row["stores"]]
    holds = [len(inputs) == 2, len(outputs) == 1, *inputs, *outputs]
    return Judged(verdict(holds), f"shared pages: {listed(shared, '.0%')}")


def _own_output(buffers: pl.DataFrame) -> Judged:
    (row,) = buffers.filter((pl.col("kernel") == "gemm") & (pl.col("stores") > 0)).to_dicts()
    share = row["shared_stores"] / row["stores"]
    return Judged(verdict([share <= 1 - _NEARLY_ALL, share < 1]), f"{share:.0%} of stores go to shared pages")


def _seldom_touched(main: pl.DataFrame, partition: pl.DataFrame) -> Judged:
    (row,) = partition.filter(dispatch=DISPATCH, kernel="bfs").to_dicts()
    best = _best(main)["bfs"]
    found = f"{row['shared_accesses']:.0%} of accesses go to shared pages; fastest: {best}"
    return Judged(verdict([row["shared_accesses"] < 0.5, best == "duplication"]), found)


def _on_touch_wins(main: pl.DataFrame) -> Judged:
    speeds = {kernel: speed for kernel, speed in _speeds(main).items() if kernel in ("fir", "sc")}
    rival = {kernel: max(speed[name] for name in UNIFORM[1:]) for kernel, speed in speeds.items()}
    return Judged(verdict(one <= _EQUAL for one in rival.values()), f"fastest rival over on-touch: {listed(rival)}")


def _pays(kernels: tuple[str, ...], *, expected: bool) -> Callable[[pl.DataFrame], Judged]:
    """Duplication is the fastest uniform scheme of these kernels, or is not."""

    def judge(main: pl.DataFrame) -> Judged:
        best = {kernel: name for kernel, name in _best(main).items() if kernel in kernels}
        holds = ((name == "duplication") == expected for name in best.values())
        return Judged(verdict(holds), "fastest: " + ", ".join(f"{kernel} {name}" for kernel, name in best.items()))

    return judge


def _wide_gap(main: pl.DataFrame) -> Judged:
    speeds = {kernel: speed for kernel, speed in _speeds(main).items() if kernel in ("st", "bs", "c2d")}
    over = {kernel: speed["grit"] / max(speed[name] for name in UNIFORM) for kernel, speed in speeds.items()}
    gap = {kernel: speed["ideal"] / speed["grit"] for kernel, speed in speeds.items()}
    holds = (*(one > 1 for one in over.values()), *(one > _WIDE for one in gap.values()))
    return Judged(verdict(holds), f"GRIT over the fastest: {listed(over)}; ideal over GRIT: {listed(gap)}")


def _like_on_touch(main: pl.DataFrame) -> Judged:
    found = {kernel: speed["grit"] for kernel, speed in _speeds(main).items() if kernel in ("fir", "sc")}
    holds = (1 / _EQUAL <= speed <= _EQUAL for speed in found.values())
    return Judged(verdict(holds), f"GRIT over on-touch: {listed(found)}")


def _faults_tell(main: pl.DataFrame) -> Judged:
    """Correlation of the logarithms of faults and times, each relative to on-touch's on the same kernel."""
    rows = main.filter(pl.col("variant").is_in([*UNIFORM, "grit"])).to_dicts()
    base = {row["workload"]: row for row in rows if row["variant"] == "on-touch"}
    pairs = [(log(max(row["faults"], 1) / base[row["workload"]]["faults"]), -log(row["speedup"])) for row in rows]
    table = pl.DataFrame(pairs, schema=["faults", "time"], orient="row")
    found = float(table.select(pl.corr("faults", "time")).item())
    return Judged(HOLDS if found > 0.8 else IN_PART if found > 0.5 else NO, f"correlation {found:.2f}")


def _most_frequent(expected: dict[str, str], least: float = 0.0) -> Callable[[pl.DataFrame], Judged]:
    """The most frequent scheme of walks, with at least this share."""

    def judge(walks: pl.DataFrame) -> Judged:
        rows = {row["kernel"]: row for row in walks.to_dicts() if row["kernel"] in expected}
        shares = {kernel: {name: row[name] for name in measures.SCHEMES} for kernel, row in rows.items()}
        most = {kernel: max(of, key=lambda name: of[name]) for kernel, of in shares.items()}
        holds = (most[one] == expected[one] and shares[one][most[one]] >= least for one in rows)
        return Judged(
            verdict(holds),
            ", ".join(f"{one} {name.replace('_', ' ')} {shares[one][name]:.0%}" for one, name in most.items()),
        )

    return judge


def _components(table: pl.DataFrame) -> Judged:
    only, cached, whole, predicted = table["grit"]
    holds = [only > 1, cached > only, predicted > only, whole >= max(only, cached, predicted)]
    return Judged(verdict(holds), listed(dict(zip(table["setting"], table["grit"], strict=True)), ".3f"))


def _threshold(table: pl.DataFrame) -> Judged:
    speed = dict(zip(map(str, table["setting"]), table["grit"], strict=True))
    best, near = max(speed.values()) <= speed["4"], speed["8"] >= speed["4"] / _EQUAL
    return Judged(verdict([best, near]), listed(speed))


def _large_pages(table: pl.DataFrame) -> Judged:
    gain = {setting: speed - 1 for setting, speed in zip(table["setting"], table["grit"], strict=True)}
    small, large = gain["4KiB"], gain["2MiB"]
    return Judged(verdict([large > 0, large < small / 2]), f"gain over on-touch: {small:.0%} and {large:.0%}")


def _griffin(table: pl.DataFrame) -> Judged:
    over = dict(zip(table["setting"], table["grit"] / table["griffin-dpc"], strict=True))
    holds = [over["off"] > _EQUAL, over["on"] > _EQUAL, over["on"] < over["off"]]
    return Judged(verdict(holds), f"GRIT over Griffin, Trans-FW off and on: {over['off']:.2f}, {over['on']:.2f}")


def _of(judge: Callable[..., Judged | None], *parts: str) -> Judge:
    return Judge(parts or (MAIN,), judge)


REMARKS = Remarks(
    "grit",
    {
        "G1": _of(_none_wins),
        "G2": _of(_order),
        "G3": _of(_not_everywhere),
        "G4": _of(_six_parts),
        "G5": _of(_migration_is_large),
        "G6": _of(_counters_shift),
        "G7": _of(_duplication_replaces),
        "G10": _of(_little_collapse),
        "G11": _of(_statements(lambda text: "duplicated again" in text), PARTITION),
        "G12": _of(_statements(lambda text: text.endswith(" shared") or "private" in text), PARTITION),
        "G13": _of(_dominant, PARTITION),
        "G14": _of(_seldom_touched, MAIN, PARTITION),
        "G15": _of(_on_touch_wins),
        "G16": _of(_statements(lambda text: "in turn" in text), PARTITION),
        "G21": _of(_segments, BUFFERS),
        "G22": _of(_own_output, BUFFERS),
        "G23": _of(_statements(lambda text: "phases" in text), PARTITION),
        "G24": _of(_pays(("bfs", "gemm"), expected=True)),
        "G25": _of(_pays(("bs", "c2d", "sc", "st"), expected=False)),
        "G36": _of(_wide_gap),
        "G37": _of(_like_on_touch),
        "G38": _of(_faults_tell),
        "G39": _of(_most_frequent(dict.fromkeys(("bfs", "gemm", "mm"), "duplication")), WALKS),
        "G40": _of(_most_frequent({"c2d": "on_touch"}), WALKS),
        "G41": _of(
            _most_frequent({"bs": "access_counter", "fir": "on_touch", "sc": "on_touch"}),
            WALKS,
        ),
        "G42": _of(_components, "components"),
        "G43": _of(_threshold, "threshold"),
        "G44": _of(_large_pages, "page-size"),
        "G45": _of(_griffin, "trans-fw"),
    },
    {
        MAIN: ("workload", "variant", "speedup", "faults", *(f"{cause}_ps" for cause in HANDLING)),
        PARTITION: (
            "kernel",
            "dispatch",
            *dict.fromkeys(("shared_pages", "shared_accesses", *(one.measure for one in STATEMENTS))),
        ),
        BUFFERS: ("kernel", "buffer", "pages", "shared_pages", "stores", "shared_stores"),
        WALKS: ("kernel", *measures.SCHEMES),
        "components": ("setting", "grit"),
        "threshold": ("setting", "grit"),
        "page-size": ("setting", "grit"),
        "trans-fw": ("setting", "grit", "griffin-dpc"),
    },
)
