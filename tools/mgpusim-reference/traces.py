#!/usr/bin/env python3
"""Records the traces of traces/ and of validation/ anew, and holds them to a list of digests.

Those of traces/ are what its README has commands for, those of validation/ are the points of each table of results.
Each trace is sealed: its manifest has sizes and hashes of its files. validation/traces.sha256 has the digest of each
manifest, as sha256sum writes and checks it. What is not as listed is named, and the exit status is 1.

Needs Go, where something is to be recorded, and a Python with Octavo: `make traces`.
"""

from __future__ import annotations

import argparse
import hashlib
import shlex
import sys
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import binaries
from points import OWN, Point, trace_name
from recording import record_one, words_of
from tables import COLUMNS, load

from octavo import OctavoError, OctavoNote
from octavo.files import manifest
from octavo.trace import seal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = binaries.REPOSITORY
FEW = ROOT / "traces"
TABLES = [
    ROOT / "validation" / folder / f"mgpusim-{binaries.VERSION}.csv"
    for folder in ("", "set-aside", "set-aside-2", "set-aside-3")
]
LIST = "validation/traces.sha256"
DIGESTS = ROOT / LIST
COMMAND = "mgpusim-trace "


class Recording(NamedTuple):
    """A trace, and what the recorder is told for it."""

    path: Path
    words: list[str]

    @property
    def sealed(self) -> Path:
        """The manifest, which comes last."""
        return self.path / manifest.MANIFEST_FILE

    @property
    def name(self) -> str:
        """The manifest as the list of digests names it."""
        return self.sealed.relative_to(ROOT).as_posix()


def main() -> int:
    """Do what the command line says."""
    arguments = parse()
    recordings = [*of_readme(), *of_tables()]
    todo = [one for one in recordings if not (arguments.missing and one.sealed.is_file())]
    failed = record(todo, arguments.work)
    if arguments.note and not failed:
        write_digests(recordings)
    wrong = differing(recordings) | failed
    for name, reason in wrong.items():
        print(f"{name}: {reason}", file=sys.stderr)
    as_listed = sum(one.name not in wrong for one in recordings)
    print(f"{len(todo)} traces recorded; {as_listed} of {len(recordings)} are as {LIST} lists them")
    if arguments.note and failed:
        print(f"{LIST} is as it was: not every trace was recorded", file=sys.stderr)
    return 1 if wrong else 0


def parse() -> argparse.Namespace:
    """Read the command line."""
    about, more = (__doc__ or "").split("\n\n", maxsplit=1)
    parser = argparse.ArgumentParser(
        description=about, epilog=more, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--missing", action="store_true", help="record only what is not there")
    parser.add_argument("--note", action="store_true", help="write the list anew, for traces that were to change")
    parser.add_argument(
        "--work",
        type=Path,
        default=Path(tempfile.gettempdir()) / "mgpusim-reference",
        metavar="FOLDER",
        help="folder for the recorder's binary (default: %(default)s)",
    )
    return parser.parse_args()


def of_readme() -> Iterator[Recording]:
    """What the README of traces/ has commands for."""
    for line in (FEW / "README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith(COMMAND):
            words = shlex.split(line)[1:]
            place = words.index("-o")
            yield Recording(FEW / words[place + 1], words[:place] + words[place + 2 :])


def of_tables() -> Iterator[Recording]:
    """The points of each table that have a result."""
    for table in TABLES:
        for row in load(table, COLUMNS):
            if not row["error"]:
                point = Point(OWN, int(row["gpus"]), row["benchmark"], row["parameters"])
                yield Recording(table.parent / "traces" / trace_name(*point.key), words_of(point))


def record(todo: Sequence[Recording], work: Path) -> dict[str, str]:
    """Record and seal; returns what failed by name, with the reason."""
    failed: dict[str, str] = {}
    recorder = binaries.build_recorder(work / "bin") if todo else work
    for number, one in enumerate(todo, 1):
        print(f"[{number}/{len(todo)}] {one.path.relative_to(ROOT)}", flush=True)
        reason = record_one(recorder, one.path, one.words) or sealing(one.path)
        if reason:
            failed[one.name] = reason
    return failed


def sealing(path: Path) -> str:
    """Seal a new trace; returns what is wrong with it, or nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OctavoNote)  # that it has no manifest
        try:
            seal(path)
        except OctavoError as error:
            return error.message
    return ""


def differing(recordings: Sequence[Recording]) -> dict[str, str]:
    """What is not as listed, by name, with the reason."""
    listed = digests()
    wrong = dict.fromkeys(listed.keys() - {one.name for one in recordings}, "listed, but nothing makes it")
    for one in recordings:
        if reason := difference(one, listed.get(one.name)):
            wrong[one.name] = reason
    return wrong


def digests() -> dict[str, str]:
    """The list: digests by name."""
    lines = DIGESTS.read_text(encoding="utf-8").splitlines()
    return {name: found for found, name in (line.split("  ", 1) for line in lines)}


def difference(one: Recording, expected: str | None) -> str:
    """How a trace differs from its digest, or nothing."""
    if not one.sealed.is_file():
        return "missing"
    if expected is None:
        return f"not listed in {LIST}; --note lists it"
    if digest(one) != expected:
        return "recorded to other bytes than those listed"
    try:
        found = manifest.read(one.path)
        assert found is not None  # noqa: S101 - it was just read
        manifest.verify(one.path, found)
    except OctavoError as error:
        return error.message
    return ""


def write_digests(recordings: Sequence[Recording]) -> None:
    """List what there is."""
    lines = [f"{digest(one)}  {one.name}\n" for one in sorted(recordings)]
    DIGESTS.write_text("".join(lines), encoding="utf-8")


def digest(one: Recording) -> str:
    """The digest of a trace's manifest."""
    return hashlib.sha256(one.sealed.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
