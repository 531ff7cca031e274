"""`transform`: reads a CUDA file, changes what it understands, and says what it left alone."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from octavo.files.text import read_bytes
from octavo.transform import buffers, names
from octavo.transform.bounds import Bounds
from octavo.transform.edits import Edit, apply
from octavo.transform.front_end import Problem, Reading, TransformError, parse, problems, refused, skipped
from octavo.transform.headers import inclusion
from octavo.transform.nearby import read
from octavo.transform.result import Changed, Skipped, Transformed
from octavo.transform.sites import Sites
from octavo.transform.text_calls import unseen
from octavo.transform.text_uses import Hidden
from octavo.transform.tree import Node, build
from octavo.transform.unread import UnreadCode
from octavo.transform.uses import Judge

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def transformed(path: Path, reading: Reading) -> Transformed:
    """The result for a file, in this process, which libclang may end; errors as `octavo.transform.transform`."""
    text = _read(path)
    unit, found, reading = read(path, reading)
    root = build(unit, str(path))
    sites = Sites(text, root)
    if found and not sites.calls:
        raise refused(path, found)
    omitted = skipped(unit, str(path))
    unread = UnreadCode(text, root, found, omitted)
    named = [
        (start, name, _why(text, start, omitted, unread))
        for start, name in unseen(unit, text, str(path), {call.start for call in sites.calls})
    ]
    hidden = Hidden(text, root, [start for start, _, _ in named], omitted, unread)
    judge = Judge(text, buffers.functions(root))
    include_header = list(inclusion(text, unit, root))

    def made(bounds: Bounds | None) -> tuple[_Change, list[Edit], bytes]:
        change = _Change(text, root, sites, named, hidden, judge, bounds)
        edits = sorted([*change.edits, *include_header]) if change.edits else []
        return change, edits, apply(text, edits)

    change, edits, after = made(Bounds(text, root, judge))
    if edits and _worse(path, reading, after, found):  # A bound may name what is defined later only, such as a macro.
        change, edits, after = made(None)
        _check(path, reading, after, found)
    in_order = sorted(dict.fromkeys(change.skipped), key=lambda each: (each.line, each.column))
    changed = sorted(change.changed, key=lambda each: each.line)
    return Transformed(path, text, after, tuple(edits), tuple(changed), tuple(in_order), tuple(unread.listed()))


def _why(text: bytes, start: int, omitted: Sequence[tuple[int, int]], unread: UnreadCode) -> str:
    """Why no call is seen where one is named."""
    compiled = not any(first <= start < last for first, last in omitted)
    if unread and compiled and not _in_directive(text, start):
        return f"it stands in code that does not parse: {unread.why(start)}"
    return "it is part of a macro, or of code that is not compiled with these settings"


def _in_directive(text: bytes, start: int) -> bool:
    """Whether a byte stands in a line of the preprocessor, or in one that continues such a line."""
    lines = text[:start].split(b"\n")
    first = len(lines) - 1
    while first and lines[first - 1].rstrip(b"\r").endswith(b"\\"):
        first -= 1
    return lines[first].lstrip().startswith(b"#")


def _read(path: Path) -> bytes:
    try:
        return read_bytes(path)
    except OSError as error:
        raise TransformError(f"cannot read {path}: {error.strerror or error}", code="unreadable", file=path) from error


def _worse(path: Path, reading: Reading, after: bytes, before: Sequence[Problem]) -> list[Problem]:
    """Errors of the new text, if they are more than those of the old one."""
    errors = problems(parse(path, reading, after))
    return errors if len(errors) > len(before) else []


def _check(path: Path, reading: Reading, after: bytes, before: Sequence[Problem]) -> None:
    """Check that the new text parses as well as the old one."""
    if errors := _worse(path, reading, after, before):
        known = {each.message for each in before}
        new = [str(each) for each in errors if each.message not in known] or [str(errors[-1])]
        raise TransformError(
            "\n".join([f"{path}: the result would not parse; nothing was changed", *new]),
            "this is a mistake of Octavo's: please report it with the file",
        )


class _Change:
    """The result for one file."""

    def __init__(
        self,
        text: bytes,
        root: Node,
        sites: Sites,
        unseen: Sequence[tuple[int, str, str]],
        hidden: Hidden,
        judge: Judge,
        bounds: Bounds | None,
    ) -> None:
        """Without `bounds` none are passed on."""
        self._text = text
        self._sites = sites
        self._hidden = hidden
        self._judge = judge
        self._bounds = bounds
        self.edits: list[Edit] = []
        self.changed: list[Changed] = []
        self.skipped: list[Skipped] = []
        self._done: set[int] = set()
        self._why: dict[int, tuple[str | None, str]] = {}
        found = buffers.groups(buffers.variables(root, judge))
        self._names = _unique(found)
        for group in found:
            self._decide(group)
        for call in self._sites.calls:
            if id(call) not in self._done and not self._sites.open(call):
                self._skip(call)
        for start, name, why in unseen:
            self.skipped.append(Skipped(self._line(start), self._column(start), name, None, why))

    def _decide(self, group: buffers.Group) -> None:
        """Change all of a buffer, or nothing of it."""
        objection = self._objection(group)
        calls = group.calls()
        if objection is not None:
            where, why = objection
            name = ", ".join(dict.fromkeys(variable.name for variable, _ in group.allocations()))
            for call in calls:
                self._why.setdefault(id(call), (name, f"{why} (line {self._line(where)})"))
            return
        for variable, call in group.allocations():
            self._allocate(group, variable, call)
        for call in calls:
            if id(call) not in self._done:
                self.edits += self._sites.edits(call)
                self._done.add(id(call))

    def _objection(self, group: buffers.Group) -> tuple[int, str] | None:
        for call in group.calls():
            if (why := self._sites.objection(call)) is not None:
                return call.start, f"`{call.name}`: {why}"
        return group.objection(self._judge, self._hidden)

    def _allocate(self, group: buffers.Group, variable: buffers.Variable, call: Node) -> None:
        bounds = None
        if self._bounds is not None:
            bounds = next((found for each in group.launches() if (found := self._bounds.launch(each, call))), None)
        name = self._names[id(variable)]
        known = b"" if bounds is None else b".launch(" + b", ".join(bounds) + b")"
        self.edits += self._sites.edits(call, f', octavo_buffer("{name}")'.encode() + known)
        self._done.add(id(call))
        kind = names.ALLOCATE[call.name]
        self.changed.append(Changed(name, self._line(call.start), kind, launch=bounds is not None))

    def _skip(self, call: Node) -> None:
        name = self._sites.name(call)
        buffer, why = self._why.get(id(call), (None, self._unasked(call)))
        self.skipped.append(Skipped(self._line(call.start), self._column(call.start), name, buffer, why))

    def _unasked(self, call: Node) -> str:
        """Why a call that belongs to no buffer is left."""
        name = self._sites.name(call)
        if name in names.LEFT:
            return names.LEFT[name]
        if any(node.kind in {"FUNCTION_TEMPLATE", "CLASS_TEMPLATE"} for node in call.ancestors()):
            return "it stands in a template"
        if (why := self._sites.objection(call)) is not None:
            return why
        return "the buffer is not allocated in a variable of this file that is understood"

    def _column(self, offset: int) -> int:
        return offset - self._text.rfind(b"\n", 0, offset)

    def _line(self, offset: int) -> int:
        return self._text.count(b"\n", 0, offset) + 1


def _unique(found: Sequence[buffers.Group]) -> dict[int, str]:
    """A name for each allocated variable: its own, or with its function's name if two are equal."""
    variables = [variable for group in found for variable in dict.fromkeys(each for each, _ in group.allocations())]
    times = Counter(variable.name for variable in variables)
    return {
        id(each): each.name if times[each.name] == 1 else ".".join(filter(None, [each.owner, each.name]))
        for each in variables
    }
