"""Which runs a report shows, their names, and the differences between their scenarios."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo.explain import targets
from octavo.report import advice, nodes
from octavo.report.folders import Named
from octavo.runs import replicates
from octavo.runs.bounds import BOUND
from octavo.runs.content import is_imported
from octavo.runs.replicates import Interval, interval
from octavo.runs.result import RunResult
from octavo.sweeps import labels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PLACEMENT = "memory.placement.name"
_EXECUTOR = "executor.kind"
"""Keys that replicates have and the original run lacks."""
PROFILE = "profile"
"""The placement strategy in reports of real programs."""
ABSENT = "–"
"""The value of a key that a scenario does not have."""
_MOST_KEYS = 6
"""Most keys of nodes in a name; if more differ, a folder stands for the machine."""


@dataclass(frozen=True)
class Run:
    """One run of a report."""

    number: int
    """Place among the runs, from 0."""
    result: RunResult
    summary: Mapping[str, Any]
    values: Mapping[str, str]
    """The scenario as a flat dictionary, by dotted key."""
    group: str
    """The workload: runs of one workload are compared with each other."""
    variant: str
    """What distinguishes it from the others of its group."""
    others: tuple[RunResult, ...] = ()
    """Its other replicates."""

    @property
    def time(self) -> Interval:
        """Picoseconds: for several replicates, the median and its interval."""
        return interval([int(one.summary["time_ps"]) for one in (self.result, *self.others)])

    @property
    def label(self) -> str:
        """Workload and variant."""
        return f"{self.group} · {self.variant}"

    @property
    def placement(self) -> str:
        """Name of its placement strategy."""
        return self.values[PLACEMENT]

    @property
    def bound(self) -> bool:
        """Whether its memory system cannot be built: no other can exceed what `ideal` reaches."""
        return self.placement == BOUND

    @property
    def simulated(self) -> bool:
        """Whether it was simulated; profiles of real programs contain less."""
        return "source" not in self.summary

    @property
    def gpus(self) -> int:
        """How many GPUs the node has; for a profile, up to the last GPU that had any event."""
        return int(self.values["node.gpus"])


def read(paths: Sequence[str | Path]) -> list[Run]:
    """Read the runs in folders: results themselves, or folders of an experiment or a sweep with results below.

    Raises:
        OutputError: a folder holds no finished result, or one that this Octavo cannot read, or a damaged one.

    """
    folders = dict.fromkeys(folder for path in paths for folder in targets.folders(Path(path)))
    results = list({folder.resolve(): _with_time(folder) for folder in folders}.values())
    together = _together(results, [_values(result) for result in results])
    results = [own for own, _, _ in together]
    scenarios = [None if is_imported(own.folder) else own.scenario.values for own in results]
    values = nodes.named([flat for _, flat, _ in together], scenarios)
    groups = _groups(values)
    variants = _variants(results, values, groups, _labels(together))
    return [
        Run(number, result, result.summary, flat, group, variant, others)
        for number, ((result, _, others), flat, group, variant) in enumerate(
            zip(together, values, groups, variants, strict=True)
        )
    ]


_Several = tuple[RunResult, dict[str, str], tuple[RunResult, ...]]


def _together(results: Sequence[RunResult], values: Sequence[dict[str, str]]) -> list[_Several]:
    """Each scenario once: the replicate with the median time, its values, and the results of the others.

    The replicate with the median time is explained and drawn; of an even number, the lower of the two in the middle.
    """
    found: dict[object, list[tuple[int, RunResult, dict[str, str]]]] = {}
    for result, flat in zip(results, values, strict=True):
        number = int(flat.get(replicates.KEY, 0))
        rest = {key: value for key, value in flat.items() if key not in (replicates.KEY, _EXECUTOR)}
        found.setdefault(tuple(sorted(rest.items())), []).append((number, result, rest if number else flat))
    several: list[_Several] = []
    for members in found.values():
        numbers = [number for number, _, _ in members]
        if len(set(numbers)) < len(numbers):  # The same run in two folders is no replicate.
            several += [(result, flat, ()) for _, result, flat in members]
            continue
        _, _, own = min(members, key=lambda member: member[0])
        by_time = sorted((result for _, result, _ in members), key=lambda result: int(result.summary["time_ps"]))
        middle = by_time.pop((len(by_time) - 1) // 2)
        several.append((middle, own, tuple(by_time)))
    return several


def ordered(runs: Sequence[Run], first: str) -> list[Run]:
    """The runs group by group, each beginning with the variant `first`, and renumbered."""
    groups = list(dict.fromkeys(run.group for run in runs))
    found = sorted(runs, key=lambda run: (groups.index(run.group), run.variant != first))
    return [replace(run, number=number) for number, run in enumerate(found)]


def differences(scenarios: Sequence[Mapping[str, str]]) -> list[str]:
    """Dotted keys whose values differ among scenarios, in the order of the first one that has them."""
    keys = dict.fromkeys(key for values in scenarios for key in values)
    return [key for key in keys if len({values.get(key) for values in scenarios}) > 1]


def _with_time(folder: Path) -> RunResult:
    result = RunResult.load(folder)
    result.check_time()
    return result


def _values(result: RunResult) -> dict[str, str]:
    """The scenario as a flat dictionary; for a profile, the values that a report needs."""
    if not is_imported(result.folder):
        return _simulated(result.scenario.values)
    summary = result.totals
    return {
        "workload.name": str(summary["source"]["file"]),
        PLACEMENT: PROFILE,
        "node.gpus": str(max((gpu["gpu"] + 1 for gpu in summary["gpus"]), default=0)),
        "memory.page_size": f"{summary['page_bytes']}B",
    }


def _simulated(values: Mapping[str, Any]) -> dict[str, str]:
    """A scenario as a flat dictionary: its jobs by their names, and the programs of all of them as the workload."""
    values = {**values, "node": {key: value for key, value in values["node"].items() if key != "about"}}
    jobs = values.get("job")
    if jobs is None:
        return _flat(values)
    rest = {key: value for key, value in values.items() if key != "job"}
    named = {job["name"]: {key: value for key, value in job.items() if key != "name"} for job in jobs}
    together = " + ".join(job["workload"]["name"] for job in jobs)
    return {"workload.name": together} | _flat(rest) | _flat(named, "job.")


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in values.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = _shown(value)
    return flat


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _groups(values: Sequence[Mapping[str, str]]) -> list[str]:
    """The workload's name, with options that distinguish workloads of the same name."""
    names = [_workload(flat) for flat in values]
    labels = []
    for name, own in zip(names, values, strict=True):
        alike = [flat for other, flat in zip(names, values, strict=True) if other == name]
        keys = [key for key in differences(alike) if key.startswith("workload.") or key == "seed"]
        labels.append(" ".join([name, *(f"{_last(key)}={own.get(key, ABSENT)}" for key in keys)]))
    return labels


def _workload(flat: Mapping[str, str]) -> str:
    path = flat.get("workload.path")
    return flat["workload.name"] if path is None else Path(path).name.removesuffix(".trace")


def _labels(together: Sequence[_Several]) -> list[str | None]:
    """The label of each run, or of one of its replicates; None for runs that do not belong to an experiment."""
    folders = [[one.folder.resolve() for one in (own, *others)] for own, _, others in together]
    known = labels.of(itertools.chain(*folders))
    for root in labels.above(itertools.chain(*folders)):
        known |= advice.labels(root)
    return [next((known[folder] for folder in own if folder in known), None) for own in folders]


def _variants(
    results: Sequence[RunResult],
    values: Sequence[Mapping[str, str]],
    groups: Sequence[str],
    given: Sequence[str | None],
) -> list[str]:
    """The label that a run got from its experiment; if it is missing or shared, the placement and what differs.

    Folders distinguish machines, and runs that nothing else distinguishes.
    """
    several = Counter(zip(groups, given, strict=True))
    skipped = ("workload.", "record.")
    simulated = [own for own in values if own[PLACEMENT] != PROFILE]
    keys = [
        key for key in differences(simulated) if not key.startswith(skipped) and key not in ("seed", "name", PLACEMENT)
    ]
    keys = nodes.told([key for key in keys if _differs_alone(key, simulated)])
    machines = machines_among(keys)
    told = [key for key in keys if key not in machines and not _in_system(key)]
    called = [
        name if name is not None and several[group, name] == 1 else None
        for group, name in zip(groups, given, strict=True)
    ]
    variants = [
        name or ", ".join([system, *_told(own, told, simulated)])
        for own, name, system in zip(values, called, map(_system, results), strict=True)
    ]
    named = [
        Named(
            result.folder.resolve(),
            group,
            variant,
            own[PLACEMENT],
            () if name else tuple(own[key] for key in machines if key in own),
        )
        for result, own, group, variant, name in zip(results, values, groups, variants, called, strict=True)
    ]
    return [f"{one.variant} ({folder})" if (folder := one.folder_among(named)) else one.variant for one in named]


def _system(result: RunResult) -> str:
    """The memory system, as `octavo run` names it."""
    return PROFILE if is_imported(result.folder) else result.scenario.memory_system


def _in_system(key: str) -> bool:
    """Whether the name of the memory system contains a key."""
    return key.startswith("memory.") and key.endswith(".name")


def _told(own: Mapping[str, str], keys: Sequence[str], simulated: Sequence[Mapping[str, str]]) -> list[str]:
    """What a name contains besides the placement; for profiles, nothing."""
    said = [key for key in keys if key in own and own in simulated]
    return [own[key] if key == nodes.NODE else f"{_last(key)}={own[key]}" for key in said]


def machines_among(keys: Sequence[str]) -> list[str]:
    """The keys of nodes that names leave out, since nodes that differ in so many keys are different machines."""
    of_nodes = [key for key in keys if key.startswith("node.") and key != "node.gpus"]
    return of_nodes if len(of_nodes) > _MOST_KEYS else []


def _differs_alone(key: str, values: Sequence[Mapping[str, str]]) -> bool:
    """Whether a key differs among scenarios of one strategy: options of different strategies do not count."""
    strategy = f"{key.rpartition('.')[0]}.name"
    found: dict[str | None, set[str]] = {}
    for flat in values:
        if key in flat:
            found.setdefault(flat.get(strategy), set()).add(flat[key])
    return any(len(different) > 1 for different in found.values())


def _last(key: str) -> str:
    return key.rsplit(".", 1)[-1] if key.count(".") == 1 else ".".join(key.rsplit(".", 2)[-2:])
