"""Two copies of each application under settings that change one thing each, relative to GPU-MMU with none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo_studies.mosaic import mixes, systems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from octavo.runs.experiment import Variant
    from octavo.runs.result import RunResult
    from octavo_studies.engine import Row
    from octavo_studies.mosaic.study import Key, Study

    Settings = Callable[[Study], list[tuple[dict[str, Any], Variant]]]
    """The columns that name each setting, and the system with it."""

COPIES = 2

GPU_MMU, MOSAIC = (systems.with_paging(system) for system in (systems.GPU_MMU, systems.MOSAIC))


def runs(settings: Settings) -> Callable[[Study], dict[Key, Variant]]:
    """Every application under every setting, and what these are relative to."""

    def wanted(study: Study) -> dict[Key, Variant]:
        found: dict[Key, Variant] = {}
        for mix in mixes.copies(study.applications, COPIES):
            found.update(study.alone(mix))
            found[mix, GPU_MMU.label] = GPU_MMU
            found.update({(mix, variant.label): variant for _, variant in settings(study)})
        return found

    return wanted


def rows(
    settings: Settings, more: Callable[[RunResult], Row] = lambda _: {}
) -> Callable[[Study, Mapping[Key, RunResult]], Iterator[Row]]:
    """A row for each application and setting: `relative` is the weighted speed-up over that of GPU-MMU."""

    def found(study: Study, results: Mapping[Key, RunResult]) -> Iterator[Row]:
        for mix in mixes.copies(study.applications, COPIES):
            reference = study.weighted_speedup(mix, results[mix, GPU_MMU.label], results)
            for setting, variant in settings(study):
                result = results[mix, variant.label]
                relative = study.weighted_speedup(mix, result, results) / reference
                yield {"mix": mixes.label(mix), **setting, "relative": relative, **more(result)}

    return found
