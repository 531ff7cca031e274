"""Where the header of the runtime is included."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from octavo.transform import names
from octavo.transform.edits import Edit
from octavo.transform.front_end import file_offset

if TYPE_CHECKING:
    from collections.abc import Iterator

    from octavo.transform.tree import Node

_OPENS = re.compile(rb"^[ \t]*#[ \t]*if", re.MULTILINE)
_CLOSES = re.compile(rb"^[ \t]*#[ \t]*endif", re.MULTILINE)
_RUNTIME = frozenset({"cuda_runtime.h", "cuda_runtime_api.h", "cuda.h"})
_MARK = b"\xef\xbb\xbf"


def inclusion(text: bytes, unit: Any, root: Node) -> Iterator[Edit]:
    """The edit that includes the header, if the file does not yet: after CUDA's, or after the last one."""
    included = [
        (each.spelling, file_offset(each.extent.end)[1])
        for each in unit.cursor.get_children()
        if each.kind.name == "INCLUSION_DIRECTIVE" and file_offset(each.extent.start)[0] == root.name
    ]
    if any(name == names.HEADER for name, _ in included):
        return
    # Not inside of `extern "C"`, where no template may stand, nor of a namespace.
    inside = [(node.start, node.end) for node in root.children]
    free = [(name, end) for name, end in included if not any(first < end < last for first, last in inside)]
    always = [(name, end) for name, end in free if _depth(text[:end]) == 0]
    best = [each for each in always if each[0] in _RUNTIME] or always
    newline = b"\r\n" if b"\r\n" in text else b"\n"
    line = b"#include <" + names.HEADER.encode() + b">" + newline
    if not best:
        yield Edit(len(_MARK) if text.startswith(_MARK) else 0, b"", line)
        return
    end = text.find(b"\n", best[-1][1])
    yield Edit(len(text), b"", newline + line) if end < 0 else Edit(end + 1, b"", line)


def _depth(text: bytes) -> int:
    """How many conditions are open at the end of a text."""
    return len(_OPENS.findall(text)) - len(_CLOSES.findall(text))
