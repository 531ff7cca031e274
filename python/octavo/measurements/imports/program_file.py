"""Recorded programs as Python files: a class for each GPU, and what was recorded beside it."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

from octavo.errors import ProfileError
from octavo.files import disk
from octavo.files.notes import note
from octavo.files.replacement import check_free
from octavo.policies.new import class_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_HEAD = '''"""{program} as a workload for Octavo, made from {source} by `octavo import {tool}`.

    octavo run {path} --scale 0.01 --kind explicit
    octavo compare {path} --scale 0.01 --kind explicit,managed
    octavo fit {path} --memory 24GB

Recorded: {recorded}. Assumed, as no profile tells it:

{assumed}
"""

from __future__ import annotations

from octavo.generators.{module} import {base}
'''
_CLASS = '''

class {name}({base}):
    """{about}"""

    file = "{file}"
    sha256 = "{sha256}"
'''
RECORDED = """
    # To say which buffers a kernel touches, uncomment this; `octavo workload inspect {path}` names the buffers.
    #
    # def touched(self, kernel):
    #     if kernel.name == "{kernel}":
    #         return [0]
    #     return self.alive(kernel)
"""
"""What stands below the class of a program with kernels of its own."""


def check(output: Path, *, force: bool) -> None:
    """Refuse a name that is no Python file's, or a file that is there.

    Raises:
        ProfileError: the name is another one.
        OutputError: a file is there already.

    """
    if output.suffix != ".py":
        raise ProfileError(
            f"{output}: expected a file that ends in .py", code="unexpected-value", key="program", file=output
        )
    check_free(output, force=force)


def write(output: Path, found: Sequence[dict[str, Any]], base: tuple[str, str], below: str, *, force: bool) -> None:
    """Write the programs of all GPUs.

    Args:
        output: the Python file.
        found: each program as its file has it; with several, each says its `gpu`.
        base: module and name of the class that theirs derive from.
        below: what stands below each class.
        force: replace files that are there.

    Raises:
        OutputError: a file is there already, or cannot be written.

    """
    module, name = base
    for each in found:
        each["class"] = class_name(output.stem) + _of(each, found, "Gpu")
    files = [output.with_suffix(f"{_of(each, found, '.gpu')}.program.json") for each in found]
    for file in files:
        check_free(file, force=force)
    shown = plain(str(output)) + ("" if len(found) == 1 else f":{found[0]['class']}")
    source = found[0]["source"]
    text = _HEAD.format(
        program=plain(source["program"] or "A program"),
        source=plain(source["file"]),
        tool=source["tool"],
        path=shown,
        recorded=found[0]["recorded"],
        assumed="\n".join(f"- {each}" for each in found[0]["assumed"]),
        module=module,
        base=name,
    )
    for each, file in zip(found, files, strict=True):
        data = disk.json_text(each)
        disk.write_text(file, data)
        text += _CLASS.format(
            name=each["class"],
            base=name,
            about=each["about"],
            file=plain(file.name),
            sha256=hashlib.sha256(data.encode()).hexdigest(),
        )
        text += below.format(path=shown, kernel=plain(each["kernels"][0][0]))
    disk.write_text(output, text)
    for each in found:
        for said, times in each["notes"].items():
            note(f"{source['file']}: {_of(each, found, 'gpu')}{': ' if len(found) > 1 else ''}{said} ({times:,})")


def _of(each: Mapping[str, Any], found: Sequence[Any], word: str) -> str:
    return "" if len(found) == 1 else f"{word}{each['gpu']}"


def plain(text: str) -> str:
    """A text of a profile as a source may hold it: without quotation marks, backslashes or further lines."""
    return re.sub(r"[^\w .,:;<>()*&/+=-]", "?", text)[:200]
