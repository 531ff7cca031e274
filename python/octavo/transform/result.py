"""The result of a transformation: the new text, the changes, and what was left alone and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from octavo.transform.edits import unified_diff

if TYPE_CHECKING:
    from pathlib import Path

    from octavo.transform.edits import Edit


@dataclass(frozen=True)
class Skipped:
    """A call that was left as it is."""

    line: int
    """From 1."""
    column: int
    """From 1, in bytes."""
    call: str
    """What is called there, such as `cudaMalloc`."""
    buffer: str | None
    """The variable, if it is known."""
    why: str


@dataclass(frozen=True)
class Changed:
    """A buffer whose allocation now asks where it is to lie."""

    name: str
    """The name that the runtime gets."""
    line: int
    """Line of its first allocation."""
    kind: str
    """How the program allocated it: device, managed or pinned."""
    launch: bool
    """Whether the bounds of a launch are passed on, too."""


@dataclass(frozen=True)
class Unread:
    """Code that does not parse: what it names is left alone, the rest of the file is not."""

    line: int
    """From 1; 0 for a header."""
    column: int
    """From 1, in bytes; 0 for a header."""
    function: str | None
    """The function that it stands in, if it stands in one."""
    why: str
    """The error, in the words of clang."""


@dataclass(frozen=True)
class Transformed:
    """A file, before and after."""

    path: Path
    before: bytes
    after: bytes
    edits: tuple[Edit, ...]
    """In the order of the file; the text between them is as it was, to the byte."""
    buffers: tuple[Changed, ...]
    skipped: tuple[Skipped, ...]
    """In the order of the file."""
    unread: tuple[Unread, ...] = ()
    """Code of the host that does not parse, in the order of the file."""

    @property
    def changed(self) -> bool:
        """Whether there was anything to do."""
        return bool(self.edits)

    @property
    def diff(self) -> str:
        """A unified diff that `patch` takes; empty if nothing changes."""
        return unified_diff(self.path.as_posix(), self.before, self.after)

    def to_dict(self) -> dict[str, Any]:
        """All of it but the text itself, for JSON."""
        return {
            "file": str(self.path),
            "changed": self.changed,
            "buffers": [vars(each) for each in self.buffers],
            "edits": [
                {
                    "line": self.before.count(b"\n", 0, edit.start) + 1,
                    "before": _text(edit.old),
                    "after": _text(edit.new),
                }
                for edit in self.edits
            ],
            "skipped": [vars(each) for each in self.skipped],
            "unread": [vars(each) for each in self.unread],
            "diff": self.diff,
        }


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")
