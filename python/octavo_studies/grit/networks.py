"""The networks of the main study, split by layer over all GPUs, under its eight placements."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from octavo.runs.comparison import Comparison, experiment_folder, save_comparison
from octavo.scenarios.scenario import Recipe
from octavo_studies.grit.main import PLACEMENTS
from octavo_studies.grit.study import placement

if TYPE_CHECKING:
    from pathlib import Path

    from octavo_studies.grit.study import Study

NETWORKS = ("vgg16", "resnet18")


def reproduce(study: Study) -> tuple[Path, Comparison]:
    """Run the study and leave its tables and pictures; errors as `Experiment.run`."""
    node = Recipe.from_names(NETWORKS[0], node=study.node).resolve().values["node"]
    overrides = (f"workload.stages={node['gpus']}", *study.overrides)
    split = replace(study, workloads=study.workloads or NETWORKS, overrides=overrides)
    runs, outcome = split.compare("networks", [placement(name) for name in PLACEMENTS])
    found = Comparison.of(outcome, PLACEMENTS[0])
    with experiment_folder(runs.root, runs.digest, force=False):
        save_comparison(runs.root, runs.digest, found)
    return runs.root, found
