"""The buffers of a program: variables that hold what the runtime allocated, with all that is done with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from octavo.transform import names
from octavo.transform.tree import FUNCTIONS, Node
from octavo.transform.uses import REFERENCES, Judge, Launched, Lost, Passed, Site, Touched, Use

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from octavo.transform.text_uses import Hidden

_VARIABLES = frozenset({"VAR_DECL", "FIELD_DECL", "PARM_DECL"})


@dataclass(eq=False)
class Variable:
    """A pointer of the program, with its uses in the order of the file."""

    declared: Node
    uses: list[tuple[Node, Use]] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name in the program."""
        return self.declared.name

    @property
    def owner(self) -> str:
        """The function or class that it belongs to; nothing for one of the whole file."""
        return next(
            (node.name for node in self.declared.ancestors() if node.kind in FUNCTIONS or node.kind in _RECORDS), ""
        )

    def calls(self) -> Iterator[Node]:
        """What the runtime does with it."""
        return (use.call for _, use in self.uses if isinstance(use, Site))

    def launches(self) -> Iterator[Node]:
        """Kernels that get it."""
        return (use.call for _, use in self.uses if isinstance(use, Launched))

    def allocations(self) -> list[Node]:
        """Calls that allocate it."""
        return [call for call in self.calls() if call.name in names.ALLOCATE]


_RECORDS = frozenset({"STRUCT_DECL", "CLASS_DECL"})


def variables(root: Node, judge: Judge) -> dict[int, Variable]:
    """All pointers of a file, by where they are declared."""
    found = {
        node.target: Variable(node)
        for node in root.walk()
        if node.kind in _VARIABLES and node.target is not None and "*" in node.type
    }
    for node in root.walk():
        if node.kind in REFERENCES and node.target in found:
            found[node.target].uses.append((node, judge.use(node)))
    return found


def functions(root: Node) -> dict[int, Node]:
    """Functions with a body, by where they are declared."""
    return {
        node.target: node
        for node in root.walk()
        if node.kind in FUNCTIONS and node.target is not None and _body(node) is not None
    }


def _body(function: Node) -> Node | None:
    return next((node for node in function.children if node.kind == "COMPOUND_STMT"), None)


@dataclass(eq=False)
class Group:
    """Variables that hold the same buffers: one, and the parameters that it is passed on as."""

    members: list[Variable]

    def calls(self) -> list[Node]:
        """What the runtime does with them, each call once, in the order of the file."""
        found = {id(call): call for member in self.members for call in member.calls()}
        return sorted(found.values(), key=lambda call: call.start)

    def allocations(self) -> list[tuple[Variable, Node]]:
        """Calls that allocate them."""
        return [(member, call) for member in self.members for call in member.allocations()]

    def launches(self) -> list[Node]:
        """Kernels that get them, in the order of the file."""
        return sorted((call for member in self.members for call in member.launches()), key=lambda call: call.start)

    def objection(self, judge: Judge, hidden: Hidden) -> tuple[int, str] | None:
        """The first thing in the file that speaks against changing these buffers: where, and what it is."""
        kinds = {names.ALLOCATE[call.name] for _, call in self.allocations()}
        seen = [each for member in self.members for each in _objections(member, kinds, judge)]
        found = [(node.start, why) for node, why in seen]
        found += [each for member in self.members for each in hidden.objections(member.declared)]
        if kinds == {"pinned"} and not self.launches():
            found.append((self.allocations()[0][1].start, "no kernel is given it: it is there for copies"))
        return min(found, key=lambda each: each[0], default=None)


def _objections(variable: Variable, kinds: set[str], judge: Judge) -> Iterator[tuple[Node, str]]:
    declared = variable.declared
    if "&" in declared.type:
        yield declared, "it is a reference to another pointer"
    if declared.kind == "VAR_DECL" and not declared.static:
        yield declared, "other files can see it"
    if declared.kind == "VAR_DECL" and not _empty_at_first(declared, judge):
        yield declared, "it begins with the value of another pointer"
    for reference, use in variable.uses:
        if isinstance(use, Lost):
            yield reference, use.why
        elif isinstance(use, Touched) and kinds == {"device"}:
            yield reference, "the host reads or writes it, though it was allocated on the device"


def _empty_at_first(declared: Node, judge: Judge) -> bool:
    values = [node for node in declared.children if node.kind not in {"TYPE_REF", "NAMESPACE_REF"}]
    return not values or judge.null(values[-1])


def groups(found: Mapping[int, Variable]) -> list[Group]:
    """Buffers that the program allocates, in the order of the file, each with all the names that it has."""
    parents = {key: key for key in found}

    def head(key: int) -> int:
        while parents[key] != key:
            key = parents[key]
        return key

    for key, variable in found.items():
        for _, use in variable.uses:
            if isinstance(use, Passed) and use.parameter in found:
                parents[head(use.parameter)] = head(key)
    together: dict[int, list[Variable]] = {}
    for key, variable in found.items():
        together.setdefault(head(key), []).append(variable)
    return [group for members in together.values() if (group := Group(members)).allocations()]
