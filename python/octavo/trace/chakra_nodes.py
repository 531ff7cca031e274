"""Nodes of Chakra execution traces: PyTorch's JSON, plain or gzip-compressed, or the protobuf that Chakra makes."""

from __future__ import annotations

import ast
import gzip
import json
import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from octavo.errors import TraceError
from octavo.files.text import read_bytes, reason

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_MOST_BYTES = 64 << 20
"""Ours, of a file and unpacked: as Python's objects, each byte of JSON takes about 21."""
_BEGINS = 64
"""Bytes that show which kind of file it is; ours."""
_GZIP = b"\x1f\x8b"
AGAIN = (
    "record with torch.profiler.ExecutionTraceObserver (PyTorch 2), whose nodes have op_schema and, for each tensor, "
    "its storage and size"
)
_PARTS = ("values", "shapes", "types")
_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5
"""Kinds of fields in protobuf; source: protobuf.dev/programming-guides/encoding."""
_ID, _NAME, _TYPE, _CONTROL, _INPUTS, _OUTPUTS, _ATTRIBUTE = 1, 2, 3, 4, 8, 9, 10
"""Fields of a node; source: mlcommons/chakra, schema/protobuf/et_def.proto."""
_TEXT = 29
"""The text of an attribute, whose name is field 1."""
_COMMUNICATES = range(5, 8)
"""Types of nodes: send, receive, collective."""


@dataclass(frozen=True)
class Node:
    """An operator's call, or a part of the program that made some."""

    id: int
    parent: int | None
    name: str
    schema: str
    """The operator's signature; empty if it is none."""
    inputs: list[list[Any]]
    """Values, shapes and types."""
    outputs: list[list[Any]]
    communicates: bool


def nodes(path: Path) -> tuple[str, list[Node]]:
    """What recorded a file, and its nodes in the order in which they began.

    Raises:
        TraceError: it cannot be read, or is no execution trace; the message names the node.

    """
    try:
        content = read_bytes(path, "an execution trace", _MOST_BYTES)
        if content.startswith(_GZIP):
            with gzip.open(path) as file:
                content = file.read(_MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise TraceError(f"cannot read {path}: {reason(error)}", code="unreadable", file=path) from None
    if len(content) > _MOST_BYTES:
        raise TraceError(f"{path} unpacks to more than {_MOST_BYTES >> 20} MiB", code="too-large", file=path)
    source, found = _of_json(path, content) if content[:_BEGINS].lstrip()[:1] == b"{" else _of_protobuf(path, content)
    if not found:
        raise TraceError(f"{path}: expected nodes, found none", AGAIN, code="missing", file=path, key="nodes")
    return source, sorted(found, key=lambda node: node.id)


def _wrong(where: str, what: str) -> TraceError:
    return TraceError(f"{where}: {what}", AGAIN, code="unexpected-value")


def _of_json(path: Path, content: bytes) -> tuple[str, list[Node]]:
    try:
        trace = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise _wrong(str(path), f"expected JSON: {error}") from None
    listed = trace.get("nodes")
    if not isinstance(listed, list) or not isinstance(trace.get("schema"), str):
        raise _wrong(str(path), f"expected `schema` and a list `nodes`, found {', '.join(trace)[:80] or 'nothing'}")
    return f"PyTorch execution trace {trace['schema'][:40]}", [
        _json_node(f"{path}: node {number}", node) for number, node in enumerate(listed)
    ]


def _json_node(where: str, node: object) -> Node:
    if not isinstance(node, dict):
        raise _wrong(where, f"expected an object, found {type(node).__name__}")
    told = node.get("attrs")
    attributes = (
        {one["name"]: one.get("value") for one in told if isinstance(one, dict) and isinstance(one.get("name"), str)}
        if isinstance(told, list)
        else node
    )
    schema, name = attributes.get("op_schema") or "", node.get("name")
    if not isinstance(schema, str) or not isinstance(name, str):
        raise _wrong(where, "`name`, `op_schema`: expected text")
    parent = node.get("ctrl_deps", node.get("parent"))
    inputs, outputs = (_side(where, node, side) for side in ("inputs", "outputs"))
    number = _number(where, "id", node.get("id"))
    parent = None if parent is None else _number(where, "ctrl_deps", parent)
    return Node(number, parent, name, schema, inputs, outputs, _is_communication(name))


def _is_communication(name: str) -> bool:
    return name.startswith(("c10d::", "nccl:", "gloo:")) or name == "record_param_comms"


def _number(where: str, key: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(where, f"`{key}`: expected a whole number, found {str(value)[:40]}")
    return value


def _side(where: str, node: dict[str, Any], side: str) -> list[list[Any]]:
    """Values, shapes and types, which older versions keep apart."""
    value = node.get(side)
    parts = value if isinstance(value, dict) else {"values": value}
    if not isinstance(value, dict):
        parts |= {part: node.get(f"{side[:-1]}_{part}") for part in _PARTS[1:]}
    return _checked(where, side, [parts.get(part) for part in _PARTS])


def _checked(where: str, side: str, found: list[Any]) -> list[list[Any]]:
    if not all(isinstance(part, list) for part in found) or len(set(map(len, found))) != 1:
        raise _wrong(where, f"`{side}`: expected as many values as shapes and types")
    return found


def _of_protobuf(path: Path, content: bytes) -> tuple[str, list[Node]]:
    """Messages that each follow their length: one about the trace, then the nodes."""
    try:
        messages = list(_messages(content))
        return "Chakra", [_protobuf_node(f"{path}: node {number}", one) for number, one in enumerate(messages[1:])]
    except ValueError as error:
        raise _wrong(str(path), f"expected JSON or Chakra's protobuf: {error}") from None


def _messages(content: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(content):
        size, at = _varint(content, at)
        if at + size > len(content):
            raise ValueError(f"a message of {size} bytes at byte {at} is cut off")
        yield content[at : at + size]
        at += size


def _protobuf_node(where: str, message: bytes) -> Node:
    found: dict[int, list[int | bytes]] = {}
    for field, value in _fields(message):
        found.setdefault(field, []).append(value)
    name, kind = _text(found.get(_NAME, [b""])[-1]), found.get(_TYPE, [0])[-1]
    number, parent = found.get(_ID, [0])[-1], next(iter(found.get(_CONTROL, [])), None)
    if isinstance(parent, bytes):  # Several in one field.
        parent = _varint(parent, 0)[0] if parent else None
    attributes = [dict(_fields(one)) for one in found.get(_ATTRIBUTE, []) if isinstance(one, bytes)]
    schema = next((_text(told.get(_TEXT, b"")) for told in attributes if told.get(1) == b"op_schema"), "")
    inputs, outputs = (
        _checked(where, side, [_literal(where, text) for text in _parts_of(found.get(field, [b""])[-1])])
        for field, side in ((_INPUTS, "inputs"), (_OUTPUTS, "outputs"))
    )
    communicates = kind in _COMMUNICATES or _is_communication(name)
    return Node(_number(where, "id", number), parent, name, schema, inputs, outputs, communicates)


def _text(value: int | bytes) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def _parts_of(side: int | bytes) -> list[str]:
    """Values, shapes and types, each a list as text."""
    told = dict(_fields(side)) if isinstance(side, bytes) else {}
    return [_text(told.get(number + 1, b"")) or "[]" for number in range(len(_PARTS))]


_LITERAL = re.compile(r"[\[\]()\w\s,.:<>'\"*+-]*", re.ASCII)
_MOST_LITERAL = 1 << 20


def _literal(where: str, text: str) -> object:
    """A list as Python prints it."""
    if len(text) > _MOST_LITERAL or not _LITERAL.fullmatch(text):
        raise _wrong(where, f"expected a list of values, found {text[:40]}")
    try:
        return ast.literal_eval(re.sub(r"\b(?:inf|nan)\b", "0", text)) if text else []
    except (ValueError, SyntaxError, OverflowError, MemoryError, RecursionError):
        raise _wrong(where, f"expected a list of values, found {text[:40]}") from None


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """A whole number of 7 bits a byte, the lowest first, and where it ends."""
    value = shift = 0
    while at < len(content) and shift < 64:
        byte = content[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise ValueError(f"no number ends before byte {at}")


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message, by number."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == _VARINT:
            value, at = _varint(message, at)
            yield key >> 3, value
            continue
        if kind == _BYTES:
            size, at = _varint(message, at)
        elif kind in (_EIGHT, _FOUR):
            size = 8 if kind == _EIGHT else 4
        else:
            raise ValueError(f"a field of the unknown kind {kind}")
        if at + size > len(message):
            raise ValueError("a field is cut off")
        yield key >> 3, message[at : at + size]
        at += size
