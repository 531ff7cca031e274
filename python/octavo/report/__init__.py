"""Reports: one page with pictures of runs, made only from their tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo import checks
from octavo._core import VERSION
from octavo.arguments import named
from octavo.errors import OutputError, ScenarioError
from octavo.files import disk
from octavo.files.replacement import REPORT, check_made
from octavo.report import advice, speed
from octavo.report.data import KINDS, gather, has_events, legends, page_map
from octavo.report.file import ReportFile
from octavo.report.page import page
from octavo.report.runs import Run, ordered, read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

DEFAULT_MEBIBYTES = 16
MIN_MEBIBYTES = 4
"""The least size of a page with maps: the rest of it takes 1 to 2 MiB."""


@named
def report(
    runs: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    baseline: str | None = None,
    mebibytes: int = DEFAULT_MEBIBYTES,
    watch: Callable[[str], None] | None = None,
) -> ReportFile:
    """Write a report of finished runs.

    Args:
        runs: folders of results, of experiments with results below them, or of advice; or one such folder.
        output: the HTML file, which is written whole or not at all.
        baseline: the variant that speed-ups are relative to, as the report names it; `on-touch` if left out and there
            is such a run, otherwise the first.
        mebibytes: size of the file, about. If histories of pages do not fit, their middles are left out, and the page
            says how much.
        watch: called with a line of text when a long step begins.

    Returns:
        The path of the file; notebooks show it as a link.

    Raises:
        OutputError: a folder holds no result that can be read, or the file cannot be written, or is there already and
            is no report.
        ScenarioError: the baseline is none of the variants, or there are no runs.

    """
    output = checks.path("output", output)
    runs = [runs] if isinstance(runs, str | Path) else runs
    _check_output(output)
    if mebibytes < MIN_MEBIBYTES:
        raise OutputError(
            f"expected a size of at least {MIN_MEBIBYTES} MiB, found {mebibytes} MiB",
            code="unexpected-value",
            found=mebibytes,
        )
    if not runs:
        raise OutputError("nothing to report on", "name at least one folder of a result", code="no-runs")
    told = advice.read(runs)
    folders = advice.with_its_runs(runs)
    found = read(folders) if folders else []
    if baseline is not None and not found:
        raise ScenarioError(
            "--baseline: expected runs, found advice without any",
            "leave --baseline out, or name runs, too",
            code="unexpected-value",
            key="baseline",
        )
    data: dict[str, Any] = {"octavo": VERSION, "kinds": KINDS, "runs": [], "advice": told}
    if found:
        against = speed.baseline(found, baseline)
        found = ordered(found, against)
        data |= gather(found, against)
    frame = page("", data, {}, legends(found))
    text = _with_maps(found, data, mebibytes * (1 << 20) - len(frame.encode()), watch or (lambda _: None))
    disk.write_text(output, text)
    return ReportFile(output)


def _with_maps(found: Sequence[Run], data: dict[str, Any], room: int, watch: Callable[[str], None]) -> str:
    recorded = [run for run in found if has_events(run)]
    maps, texts = {}, {}
    for run in recorded:
        watch(f"page map of {run.label}")
        packed = page_map(run, max(room // len(recorded), 0))
        if packed is not None:
            maps[run.number], texts[run.number] = packed.about, packed.text
    return page(_title(found, data["advice"]), {**data, "maps": maps}, texts, legends(found))


def _title(found: Sequence[Run], told: Sequence[Mapping[str, Any]]) -> str:
    groups = list(dict.fromkeys(run.group for run in found)) or [str(each["name"]) for each in told]
    return f"Octavo: {', '.join(groups[:4])}{' and more' if len(groups) > 4 else ''}"


def _check_output(output: Path) -> None:
    if output.is_dir():
        raise OutputError(
            f"cannot write {output}: it is a folder",
            "name a file with -o, such as report.html",
            code="is-a-folder",
            file=output,
        )
    check_made(output, REPORT)
    disk.check_writable(output.parent)
