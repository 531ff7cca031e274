"""Shared by all parts of the study: how it is run, where results go, and the weighted speed-up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from octavo.errors import ScenarioError
from octavo.plain import one_of
from octavo.runs.experiment import Variant
from octavo.scenarios import conflicts
from octavo.scenarios.catalogue import names
from octavo.scenarios.scenario import Recipe
from octavo_studies.engine import study as engine
from octavo_studies.mosaic import mixes, systems

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from octavo.runs.result import RunResult
    from octavo.scenarios.scenario import Scenario

Mix = tuple[str, ...]
NOT_SINGLE = ("trace",)
"""Workloads that are not one application with inputs of its own."""
Key = tuple[Mix, str]
"""A mix and the label of a system."""
Arriving = Callable[[Variant], Variant]
"""A system as it is when data arrive in one way."""


@dataclass(frozen=True)
class Study(engine.Study):
    """Applications, alone and together, on the published GPU."""

    name: ClassVar[str] = "mosaic"
    own: ClassVar[Mapping[str, str]] = {
        "program.data": "--data",
        "program.frames": "",
        "node.preset": "--node",
    }

    applications: tuple[str, ...] = mixes.APPLICATIONS
    copies: tuple[int, ...] = (1, 2, 3, 4, 5)
    """Copies of one application that run together."""
    mixed: tuple[int, ...] = (2, 3, 4, 5)
    """Different applications that run together."""
    draws: int = 25
    """Heterogeneous mixes of each size."""
    data: str = "fault"
    """When the data of applications arrive: one of `systems.DATA`."""
    ends: bool = False
    """Whether parts that vary something take only the ends of its range, besides the published value."""
    node: str = systems.NODE
    """Preset of the machine."""
    named: tuple[Mix, ...] = ()
    """Heterogeneous mixes besides those that are drawn."""

    def __post_init__(self) -> None:
        """Refuse what is no single application.

        Raises:
            ScenarioError: a trace, a mix or an unknown name.

        """
        known = [name for name in names("workloads") if name not in NOT_SINGLE]
        for name in self.applications:
            if mixes.workload((name,)) not in known:
                expected = one_of(name, [mixes.labelled(each) for each in known])
                raise ScenarioError(
                    f"application `{name}`: expected {expected}",
                    expected=expected,
                    code="unknown-name",
                    key="application",
                    found=name,
                )

    @cached_property
    def probe(self) -> Scenario:
        """One scenario of the study, spelled out."""
        return self.recipe(((self.applications[0],), ""), systems.GPU_MMU).resolve()

    @cached_property
    def units(self) -> int:
        """Compute units that applications share."""
        return int(self.probe.values["node"]["compute"]["units"])

    @property
    def homogeneous(self) -> list[Mix]:
        """Every application in every number of copies."""
        return [mix for count in self.copies for mix in mixes.copies(self.applications, count)]

    @property
    def heterogeneous(self) -> list[Mix]:
        """The drawn mixes of every size.

        Raises:
            ScenarioError: there are too few applications for any.

        """
        sizes = [count for count in self.mixed if count <= len(self.applications)]
        if not sizes:
            listed = ", ".join(map(str, self.mixed))
            raise ScenarioError(
                f"mixes of {listed} different applications cannot be drawn from {len(self.applications)}",
                "name more applications with --workload, or choose other parts with --part",
            )
        drawn = [mix for count in sizes for mix in mixes.draws(self.applications, count, self.draws)]
        named = [mix for mix in self.named if len(mix) in self.mixed]
        return list(dict.fromkeys([*drawn, *named]))

    def values(self, axis: tuple[int, ...], published: int) -> list[int]:
        """What an axis is varied over."""
        return [value for value in axis if not self.ends or value in (axis[0], published, axis[-1])]

    def alone(self, mix: Mix, arriving: Arriving = systems.with_paging) -> list[tuple[Key, Variant]]:
        """What a weighted speed-up is relative to: each application under GPU-MMU on its share of the units, alone."""
        units = self.units // len(mix)
        alone = arriving(Variant("alone", systems.GPU_MMU.overrides))
        variant = systems.changed(alone, f"on {units}", f"node.compute.units={units}")
        return [(((name,), variant.label), variant) for name in dict.fromkeys(mix)]

    def weighted_speedup(
        self,
        mix: Mix,
        result: RunResult,
        results: Mapping[Key, RunResult],
        arriving: Arriving = systems.with_paging,
    ) -> float:
        """Sum over the applications of their speed together relative to alone.

        Instructions are the same in both, so that instructions per cycle are as the times are.
        """
        references = {key[0][0]: int(results[key].summary["time_ps"]) for key, _ in self.alone(mix, arriving)}
        times = zip(mix, finished(mix, result), strict=True)
        return sum(references[name] / time for name, time in times)

    def recipe(self, key: Key, variant: Variant, /) -> Recipe:
        """One run as it is written."""
        mix, _ = key
        base = Recipe.from_names(mixes.workload(mix), "first-touch", self.node)
        arrives = () if self.data == "fault" else (f"program.data={self.data}",)
        settings = ("record.events=false", "record.interval=0ns", *systems.MEMORY, *self.overrides)
        return base.with_overrides([*settings, *variant.overrides, *arrives])

    def place(self, key: Key, _scenario: Scenario, /) -> tuple[str, ...]:
        """By mix and system."""
        mix, label = key
        return (mixes.label(mix), label)

    def label(self, key: Key, /) -> str:
        """The mix and the system."""
        return " ".join((mixes.label(key[0]), key[1]))

    def refuse(self, wanted: Mapping[Key, Variant]) -> None:
        """Refuse changes that would be lost in any run.

        Raises:
            ScenarioError: a change is lost.

        """
        conflicts.refuse(self.overrides, self.own)
        for key, variant in wanted.items():
            conflicts.refuse_varied(self.recipe(key, Variant("", ())), self.overrides, [variant.overrides], "the study")


def means(found: pl.DataFrame, compared: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """What a part reports beside its points: averages, as the publication's figure shows them.

    `compared` has averages beside published ones, as fractions; nothing where nothing is published.
    """
    return {"means": found, "compared": list(compared)}


def finished(mix: Mix, result: RunResult) -> list[int]:
    """When each application of a mix ended for the first time, in picoseconds."""
    if len(mix) == 1:
        return [int(result.summary["time_ps"])]
    return [int(job["first_end_ps"]) for job in result.totals["jobs"]]


def hit_rates(result: RunResult) -> dict[str, float]:
    """Share of the lookups at each level that hit, and of these hits those in entries for large pages."""
    accesses = result.summary["accesses"]
    missed = accesses["translations"] - accesses["l1_tlb_hits"]
    return {
        "l1": _share(accesses["l1_tlb_hits"], accesses["translations"]),
        "l1_large": _share(accesses["l1_tlb_large_hits"], accesses["l1_tlb_hits"]),
        "l2": _share(accesses["l2_tlb_hits"], missed),
        "l2_large": _share(accesses["l2_tlb_large_hits"], accesses["l2_tlb_hits"]),
    }


def counted(result: RunResult, name: str) -> int:
    """What the manager counted; 0 if it does not list the count."""
    counts: Mapping[str, Any] = result.summary["manager"]
    return int(counts.get(name, 0))


def coalesced(result: RunResult) -> float:
    """Share of the base pages that are translated as large ones when memory is fullest; 0 without frame numbers."""
    use = result.summary.get("memory_use", ())
    return _share(sum(one["coalesced_frames"] for one in use), sum(one["base_frames"] for one in use))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
