"""Runs that a user names: results, or folders of comparisons, sweeps or studies, with all runs below them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from octavo.errors import OutputError
from octavo.explain.what_if import beside
from octavo.files import manifest
from octavo.files.manifest import MANIFEST_FILE
from octavo.runs.bounds import bounds, marked
from octavo.runs.content import SUMMARY_FILE, check_is_folder, holds_result
from octavo.runs.result import RunResult
from octavo.sweeps import labels

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def named(paths: Sequence[Path]) -> dict[str, RunResult]:
    """The runs below some paths, by their labels, in the order of the experiment that made them.

    For a comparison or a sweep, these are its points: neither their replicates nor the runs of single jobs.

    Raises:
        OutputError: a folder holds no finished result, or one that this Octavo cannot read, or a damaged one.

    """
    found = list(dict.fromkeys(folder for path in paths for folder in _points(path)))
    results = [RunResult.load(folder) for folder in found]
    known = labels.of(folder.resolve() for folder in found)
    labelled = [known.get(result.folder.resolve()) for result in results]
    pairs = list(zip(results, labelled, strict=True))
    limits = bounds({(one.scenario.label, label): one for one, label in pairs if label is not None})
    called = [_called(one, label, limits) for one, label in pairs]
    for other in (lambda result: result.name, lambda result: str(result.folder)):
        several = Counter(called)
        called = [other(one) if several[name] > 1 else name for name, one in zip(called, results, strict=True)]
    return dict(zip(called, results, strict=True))


def _called(result: RunResult, label: str | None, limits: set[str]) -> str:
    """`fir under grit`, as `octavo run` says it, with the label of its experiment instead of the memory system."""
    return result.name if label is None else f"{result.scenario.label} under {marked(label, limits)}"


def _points(path: Path) -> list[Path]:
    """The folders of a path; if something labels its runs, only the labelled ones, in its order."""
    found = folders(path)
    if found == [path]:
        return found
    places = {folder.resolve(): folder for folder in found}
    return [places[folder] for folder in labels.of(places) if folder in places] or found


def folders(path: Path) -> list[Path]:
    """The folder of a result, or those of all results below a folder, such as one of an experiment or a sweep.

    Raises:
        OutputError: there is none.
        DamagedError: a manifest cannot tell what its folder is.

    """
    check_is_folder(path)
    if holds_result(path):
        return [path]
    found = [folder for folder in _below(path) if holds_result(folder)]
    tried = [beside(folder) for folder in found]  # Their runs stand with what they are changes of.
    found = [folder for folder in found if not any(other in folder.parents for other in tried)]
    if not found:
        raise OutputError(
            f"{path} holds no finished result",
            f"expected {SUMMARY_FILE} and scenario.toml in it, or in folders below it; a run that was stopped has none",
            code="no-result",
            file=path,
        )
    return found


def _below(path: Path) -> list[Path]:
    """Folders that may hold a result: those with a summary, or with a manifest that shows what is missing.

    Raises:
        DamagedError: a manifest cannot tell what its folder is.

    """
    files = [file for name in (SUMMARY_FILE, MANIFEST_FILE) for file in path.rglob(name)]
    folders = sorted({file.parent for file in files if not _hidden(file.relative_to(path))})
    for folder in folders:
        if folder != path:
            manifest.read(folder)
    return folders


def _hidden(path: Path) -> bool:
    """Whether something is part of a result that is still being written."""
    return any(part.startswith(".") for part in path.parts)
