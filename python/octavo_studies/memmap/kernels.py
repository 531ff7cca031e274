"""The roofline held to kernels: what each of them reaches on the study's node, below its ceiling."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import polars as pl

from octavo.advice import systems
from octavo.files.links import inside
from octavo.roofline import Roofline
from octavo.runs.execute import Point, execute
from octavo.runs.experiment import RUNS
from octavo.scenarios.scenario import Recipe, overrides_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from octavo.runs.result import RunResult
    from octavo.scenarios.scenario import Scenario
    from octavo_studies.engine import Study

ALPHAS = (0.25, 1.0, 4.0, 16.0, 64.0, 256.0)
"""Operations a byte."""
SIGMAS = (1.0, 0.25)
RHOS = (1, 4)
TOUCHED = 4 << 20
"""Bytes that a kernel touches, in runs of the same length."""
_RUN = 64 << 10
_WAVEFRONTS = 4
"""Wavefronts of a work-group."""
_FUSED = 2
"""Operations of a fused multiply-add: the kernels use these, and a vector instruction is one for each lane."""
_COUNTED = ("kernel", "copy-in")
"""Phases that the roofline is about."""


@dataclass(frozen=True)
class _Kernel:
    """A kernel, and where its data are: device placement by sparsity, host placement by re-migration."""

    placement: str
    alpha: float
    sigma: float
    rho: int

    @property
    def label(self) -> str:
        return f"roofline-{self.placement}-{self.alpha:g}-{self.sigma:g}-{self.rho}"

    @property
    def spacing(self) -> int:
        """Bytes from the beginning of a run to the next."""
        return round(_RUN / self.sigma)

    @property
    def touched(self) -> float:
        """The share of its memory that it touches: that ends with the last run."""
        return TOUCHED / ((TOUCHED // _RUN - 1) * self.spacing + _RUN)

    def on(self, scenario: Scenario, groups: int) -> Scenario:
        """The kernel as a whole program. Bytes that come again are other bytes: no processor takes them back."""
        shape = {"bytes": TOUCHED, "run": _RUN, "spacing": self.spacing, "wavefronts": _WAVEFRONTS}
        work = {"groups": groups, "intensity": self.alpha / self.rho, "launches": self.rho, "fresh": self.rho > 1}
        kind = "explicit" if self.placement == "device" else "managed"
        changes = {"workload": {"name": "touch", **shape, **work}, "program.kind": kind}
        return Recipe(scenario.toml, "scenario", tuple(overrides_of(changes))).resolve()


def run(study: Study, scenario: Scenario, root: Path) -> pl.DataFrame:
    """One row for each kernel: operations a second that it reaches and its ceiling, by the values of the node.

    Args:
        study: how it is run.
        scenario: of the study, whose node and memory system the kernels run on.
        root: folder of the study.

    """
    compute = scenario.values["node"]["compute"]
    groups = compute["units"] * compute["simds_per_unit"] * compute["wavefronts_per_simd"] // _WAVEFRONTS
    kernels = list(_kernels())
    points = [Point(each.label, each.on(scenario, groups), inside(root, RUNS, each.label)) for each in kernels]
    found = execute(points, **study.how)
    system = systems.from_scenario(scenario).system
    model = Roofline(_FUSED * system.peak, system.device, system.on_demand, system.copy)
    columns = {name: [getattr(each, name) for each in kernels] for name in ("placement", "alpha", "sigma", "rho")}
    reached = [each.alpha * TOUCHED / _seconds(result) for each, result in zip(kernels, found, strict=True)]
    return pl.DataFrame({**columns, "reached": reached, "ceiling": [_ceiling(each, model) for each in kernels]})


def _kernels() -> Iterator[_Kernel]:
    yield from (_Kernel("device", alpha, sigma, 1) for sigma, alpha in product(SIGMAS, ALPHAS))
    yield from (_Kernel("host", alpha, 1.0, rho) for rho, alpha in product(RHOS, ALPHAS))


def _seconds(result: RunResult) -> float:
    """Seconds of kernels and the copies before them."""
    phases = result.table("phases").filter(pl.col("phase").is_in(_COUNTED))
    return 1e-12 * float((phases["ended_ps"] - phases["began_ps"]).sum())


def _ceiling(kernel: _Kernel, model: Roofline) -> float:
    found = model.ceilings(kernel.alpha, kernel.touched, kernel.rho)
    return float(found.device if kernel.placement == "device" else found.host)
