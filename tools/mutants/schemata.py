"""Rewrites a source file so that all its mutants are in it, each behind a switch.

Where an operator's operands are evaluated once and then chosen between, types may not be found any more. Such places
are written a second way: the whole expression once for each mutant.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import tree_sitter_rust
from tree_sitter import Language, Node, Parser, Tree

ON = "crate::octavo_switch::on"
PICK = "crate::octavo_switch::pick"
EITHER = "crate::octavo_switch::Either"

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
RUST = Parser(Language(tree_sitter_rust.language()))


@dataclass
class Mutant:
    """One way to break one place."""

    number: int
    name: str
    genre: str
    replacement: str
    start: int
    end: int
    left_out: str = ""
    """Why it cannot be switched on, if it cannot."""


@dataclass
class Site:
    """A place of the source and the mutants there."""

    node: Node
    mutants: list[Mutant] = field(default_factory=list)
    twice: bool = False
    """Its operands are written once for each mutant."""

    def live(self) -> list[Mutant]:
        """Mutants that can be switched on."""
        return [mutant for mutant in self.mutants if not mutant.left_out]


class Source:
    """One file: where its mutants are, and its text with all of them."""

    def __init__(self, text: bytes, listed: list[dict[str, Any]], first: int) -> None:
        self.text = text
        self.tree: Tree = RUST.parse(text)
        self.mutants: list[Mutant] = []
        self.sites: dict[int, Site] = {}
        self.constant: set[str] = set()
        """Functions that constants call."""
        starts = line_starts(text)
        for number, entry in enumerate(listed, first):
            self.add(entry, number, starts)

    def add(self, entry: dict[str, Any], number: int, starts: list[int]) -> None:
        """Finds the place of a mutant."""
        start, end = (offset(self.text, starts, entry["span"][which]) for which in ("start", "end"))
        mutant = Mutant(number, entry["name"], entry["genre"], entry["replacement"], start, end)
        self.mutants.append(mutant)
        node = place(self.tree.root_node.descendant_for_byte_range(start, end) or self.tree.root_node, mutant)
        if node is None:
            return
        if outside_functions(node):
            mutant.left_out = "constant"
        self.sites.setdefault(node.id, Site(node)).mutants.append(mutant)

    def rewritten(self) -> bytes:
        """The text with every mutant that can be switched on."""
        return self.render(self.tree.root_node).encode()

    def render(self, node: Node) -> str:
        """The text of a node with its mutants."""
        site = self.sites.get(node.id)
        if node.type == "function_modifiers":
            return self.modifiers(node)
        if site is None or not site.live():
            return self.children(node)
        return f"/*<g{site.mutants[0].number}*/{WRITERS[site.mutants[0].genre](self, site)}/*g>*/"

    def children(self, node: Node, without: tuple[Node, ...] = ()) -> str:
        """The text of a node whose own place is left as it is."""
        parts, end = [], node.start_byte
        for child in node.children:
            parts.append(self.text[end : child.start_byte].decode())
            parts.append("" if child in without else self.render(child))
            end = child.end_byte
        return "".join(parts) + self.text[end : node.end_byte].decode()

    def modifiers(self, node: Node) -> str:
        """Modifiers of a function: no switch can be read in a constant one."""
        text = self.children(node)
        return text if full_name(function_of(node)) in self.constant else re.sub(r"\bconst\b", "", text)

    def keep_constant(self, name: str) -> None:
        """A function of this name is called by constants: it stays as it is."""
        self.constant.add(name)
        for site in self.sites.values():
            function = function_of(site.node)
            constant = function is not None and any(child.type == "function_modifiers" for child in function.children)
            if constant and full_name(function) == name:
                for mutant in site.live():
                    mutant.left_out = "constant"


def line_starts(text: bytes) -> list[int]:
    """Where each line begins, in bytes."""
    return [0, *(found.end() for found in re.finditer(b"\n", text))]


def offset(text: bytes, starts: list[int], place: dict[str, int]) -> int:
    """The byte of a line and column."""
    start = starts[place["line"] - 1]
    line = text[start:].split(b"\n", 1)[0].decode()
    return start + len(line[: place["column"] - 1].encode())


def place(node: Node, mutant: Mutant) -> Node | None:
    """The node that has to be written anew for a mutant."""
    if mutant.genre in ("BinaryOperator", "UnaryOperator"):
        if node.parent is not None and node.parent.type == "let_chain":
            mutant.left_out = "does not compile: a chain with let has no ||"
            return None
        return node.parent
    if mutant.genre == "FnValue":
        return part(above(node, "function_item"), "body")
    if mutant.genre == "MatchArm":
        return part(node, "pattern")
    if mutant.genre == "MatchArmGuard":
        return above(node, "match_pattern")
    # A field of a struct: its place ends behind the comma.
    return next((child for child in node.children if child.start_byte == mutant.start), node)


def part(node: Node, name: str) -> Node:
    """What stands in a node under a name."""
    found = node.child_by_field_name(name)
    if found is None:
        raise ValueError(f"no {name} in {words(node)}")
    return found


def above(node: Node, kind: str) -> Node:
    """The nearest node of a kind around a node, or itself."""
    around: Node | None = node
    while around is not None and around.type != kind:
        around = around.parent
    if around is None:
        raise ValueError(f"no {kind} around {words(node)}")
    return around


def words(node: Node | None) -> str:
    """The text of a node, if there is one."""
    return node.text.decode() if node is not None and node.text is not None else ""


def function_of(node: Node | None) -> Node | None:
    """The function that a node stands in."""
    while node is not None and node.type != "function_item":
        node = node.parent
    return node


def full_name(function: Node | None) -> str:
    """What a function is called, after its type if it has one."""
    around = function
    while around is not None and around.type != "impl_item":
        around = around.parent
    parts = (around and around.child_by_field_name("type"), function and function.child_by_field_name("name"))
    return "::".join(words(one).split("<")[0] for one in parts if one)


def outside_functions(node: Node) -> bool:
    """Whether a node belongs to a constant."""
    ancestor: Node | None = node
    while ancestor is not None and ancestor.type not in ("function_item", "closure_expression"):
        if ancestor.type in ("const_item", "static_item", "const_block"):
            return True
        ancestor = ancestor.parent
    return ancestor is None


def chosen(mutants: list[Mutant], otherwise: str, text: Callable[[Mutant], str]) -> str:
    """What the mutant that is switched on makes of a place, or the place as it is."""
    branches = [f"if {ON}({one.number}) {{ /*<m{one.number}*/{text(one)}/*m>*/ }}" for one in mutants]
    return " else ".join([*branches, f"{{ {otherwise} }}"])


def binary(source: Source, site: Site) -> str:
    """A binary operator."""
    left, right = (source.render(part(site.node, side)) for side in ("left", "right"))
    sign = words(site.node.child_by_field_name("operator") or site.node.children[1])
    live = site.live()
    if site.node.type == "compound_assignment_expr":
        return assignment(site, left, right, sign)
    if site.twice:
        written = chosen(live, f"({left}) {sign} ({right})", lambda one: f"({left}) {one.replacement} ({right})")
        return f"({written})"
    if sign in ("&&", "||"):
        same = "==" if sign == "&&" else "!="
        return f"({{ let __l: bool = {left}; if __l {same} {ON}({live[0].number}) {{ __l }} else {{ {right} }} }})"
    if sign in COMPARISONS:
        value = f"*__l {sign} *__r"
        for one in live:
            changed = f"*__l {one.replacement} *__r"
            value = f"{PICK}({one.number}, {value}, || /*<m{one.number}*/{changed}/*m>*/)"
        return f"(match (&({left}), &({right})) {{ (__l, __r) => {value} }})"
    value = chosen(live, f"__l {sign} __r", lambda one: f"__l {one.replacement} __r")
    return f"(match ({left}, {right}) {{ (__l, __r) => {value} }})"


def assignment(site: Site, left: str, right: str, sign: str) -> str:
    """An operator that assigns."""
    live = site.live()
    if site.twice:
        return f"({chosen(live, f'{left} {sign} {right}', lambda one: f'{left} {one.replacement} {right}')})"
    value = chosen(live, f"{left} {sign} __r", lambda one: f"{left} {one.replacement} __r")
    return f"(match ({right}) {{ __r => {value} }})"


def unary(source: Source, site: Site) -> str:
    """A unary operator that may be left out."""
    operand = source.render(site.node.children[-1])
    sign = source.text[site.node.start_byte : site.node.children[-1].start_byte].decode()
    if site.twice:
        return f"({chosen(site.live(), f'{sign}({operand})', lambda _: operand)})"
    return f"(match ({operand}) {{ __v => {chosen(site.live(), f'{sign}__v', lambda _: '__v')} }})"


def value(source: Source, site: Site) -> str:
    """The body of a function that may return something else at once."""
    returned = words(above(site.node, "function_item").child_by_field_name("return_type"))
    some_iterator = re.match(r"impl\b.*\bIterator\b", returned, re.DOTALL)
    wrap, early = "{}", []
    for one in site.live():
        result = wrap.format(f"{EITHER}::A({one.replacement})") if some_iterator else one.replacement
        early.append(f"if {ON}({one.number}) {{ return /*<m{one.number}*/{result}/*m>*/; }}")
        if some_iterator:
            wrap = wrap.format(f"{EITHER}::B({{}})")
    body = source.children(site.node)
    return "{" + "".join(early) + (wrap.format(body) + "}" if some_iterator else body[1:])


def pattern(source: Source, site: Site) -> str:
    """A pattern of a match whose arm or guard may go."""
    condition = site.node.child_by_field_name("condition")
    words = [f"!{ON}({one.number})" for one in site.live() if one.genre == "MatchArm"]
    if condition is None:
        return f"{source.children(site.node)} if {' && '.join(words)}"
    guard = f"({source.render(condition)})"
    for one in site.live():
        if one.genre == "MatchArmGuard":
            guard = (
                f"({ON}({one.number}) || {guard})" if one.replacement == "true" else f"(!{ON}({one.number}) && {guard})"
            )
    before = source.text[site.node.start_byte : condition.start_byte].decode()
    return before + " && ".join([*words, guard])


def struct_field(source: Source, site: Site) -> str:
    """A field of a struct that may be taken from the base of the expression."""
    struct = above(site.node, "struct_expression")
    base = next(child for child in part(struct, "body").children if child.type == "base_field_initializer")
    given = site.node.child_by_field_name("value")
    label = words(site.node.child_by_field_name("field")) or words(site.node)
    own = source.render(given) if given else words(site.node)
    # Of a name only this field is taken.
    named = base.children[-1].type in ("identifier", "self")
    other = words(base.children[-1]) if named else f"({words(part(struct, 'name'))} {{ {words(base)} }})"
    return f"{label}: {chosen(site.live(), own, lambda _: f'{other}.{label}')}"


WRITERS = {
    "BinaryOperator": binary,
    "UnaryOperator": unary,
    "FnValue": value,
    "MatchArm": pattern,
    "MatchArmGuard": pattern,
    "StructField": struct_field,
}

MARK = re.compile(rb"/\*<([gm])(\d+)\*/|/\*([gm])>\*/")


def innermost(text: bytes, start: int) -> list[tuple[str, int]]:
    """Marks around a byte of a rewritten file, outermost first."""
    stack: list[tuple[str, int]] = []
    for found in MARK.finditer(text, 0, start + 1):
        if found[1]:
            stack.append((found[1].decode(), int(found[2])))
        else:
            stack.pop()
    return stack
