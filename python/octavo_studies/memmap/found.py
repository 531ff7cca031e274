"""Results of the study beside the publication, as tables and pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from octavo.files import disk, parquet
from octavo.runs import pictures
from octavo.runs.comparison import save_report
from octavo_studies.memmap import systems
from octavo_studies.memmap.tables import geometric
from octavo_studies.published import published

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

STRUCTURES_FILE = "structures.parquet"
ROOFLINE_FILE = "roofline.parquet"
COSTS_FILE = "costs.parquet"
FILES = (STRUCTURES_FILE, ROOFLINE_FILE, COSTS_FILE)
"""Tables beside the points."""


@dataclass(frozen=True)
class Found:
    """What the study found."""

    root: Path
    points: pl.DataFrame
    """One row for each application, input and placement (`placements`: a letter a buffer, d or m): `seconds`,
    `relative` to all on the device, `regret` over the fastest, `is_advice`."""
    systems: pl.DataFrame
    """One row for each application, geometric means over its inputs: speed-ups over all on the device under each of
    `SYSTEMS`; `spread`, the slowest placement over the fastest; `model_over_optimum`, 1 plus the model's regret."""
    structures: pl.DataFrame
    """One row for each application, input and data structure: placements, σ and ρ estimated and measured, faults."""
    roofline: pl.DataFrame
    """One row for each kernel of the roofline: operations a second that it reaches, and its ceiling."""
    costs: pl.DataFrame
    """One row for each application and input: seconds of processor time that the model takes, on this machine."""

    def means(self) -> dict[str, float]:
        """Geometric means over applications, by system."""
        return {name: geometric(self.systems[name]) for name in systems.SYSTEMS}

    def compared(self) -> list[dict[str, Any]]:
        """The model's speed-ups beside the published ones."""
        reported = published("memmap")
        means, table = self.means(), self.systems
        rows = (
            ("average speed-up of the model", means[systems.MODEL], reported["average_speedup"]),
            ("largest speed-up of the model", table[systems.MODEL].max(), reported["largest_speedup"]),
            ("average speed-up of the optimum", means[systems.OPTIMUM], None),
            ("largest speed-up of the optimum", table[systems.OPTIMUM].max(), None),
        )
        return [{"what": what, "found": found, "published": printed} for what, found, printed in rows]

    def to_dict(self) -> dict[str, Any]:
        """The study as JSON holds it."""
        return {
            "compared": self.compared(),
            "means": self.means(),
            "systems": self.systems.to_dicts(),
            "structures": self.structures.to_dicts(),
            "roofline": self.roofline.to_dicts(),
        }


def save(found: Found, key: str) -> None:
    """Write tables and pictures into the study's folder, which is open."""
    _draw(found)
    for name, table in (
        (STRUCTURES_FILE, found.structures),
        (ROOFLINE_FILE, found.roofline),
        (COSTS_FILE, found.costs),
    ):
        disk.write_bytes(found.root / name, parquet.encoded(table))
    save_report(found.root, key, found.points, found.to_dict())


def _draw(found: Found) -> None:
    names = [name for name in systems.SYSTEMS if name != systems.DEVICE]
    wide = found.systems.select("application", *names).rename({name: systems.SYSTEMS[name] for name in names})
    title = "Speed over all on the device"
    pictures.bars(found.root / "speed.png", wide, xlabel="relative speed", title=title, line_at=1.0)
    boxes = {
        str(name[0]): rows["relative"].to_list()
        for name, rows in found.points.group_by("application", maintain_order=True)
    }
    pictures.boxes(
        found.root / "sensitivity.png",
        boxes,
        ylabel="time over all on the device",
        title="Times of all placements",
        line_at=1.0,
    )
    groups = found.roofline.group_by("placement", "sigma", "rho", maintain_order=True)
    series = {
        f"{placement}, {'σ' if placement == 'device' else 'ρ'} {sigma if placement == 'device' else rho:g}{what}": (
            rows["alpha"].to_list(),
            (rows[column] / 1e9).to_list(),
        )
        for (placement, sigma, rho), rows in groups
        for column, what in (("reached", ""), ("ceiling", ": ceiling"))
    }
    labels = ("operations a byte", "Gop/s")
    pictures.lines(found.root / "roofline.png", series, labels, title="Kernels below their ceilings")
