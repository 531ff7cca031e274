"""Writes types for editors and type checkers from what the core tells; `make` runs it after each build of the core.

`octavo/scenarios/config.py` has what a scenario may say, `octavo/runs/totals.py` what results hold.
"""

from __future__ import annotations

import json
import keyword
import textwrap
from pathlib import Path
from typing import Any

from octavo import _core

PACKAGE = Path(__file__).parents[2] / "python" / "octavo"
CONFIG = PACKAGE / "scenarios" / "config.py"
TOTALS = PACKAGE / "runs" / "totals.py"
STRATEGIES = {"placement", "prefetch", "eviction", "demotion", "sharing", "guard"}
"""Keys that also take a Python file or a class."""
TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
CELLS = {"u64": "int", "text": "str", "category": "str"}
"""Types of cells by the kind of their column."""
CONFIG_HEAD = '''\
"""What a scenario may say, as types for editors and type checkers: made from the JSON schema by `make`.

Every key may be left out. Values are those of scenario files: text with units, numbers, tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octavo.policies.names import Strategy
'''
TOTALS_HEAD = '''\
"""What results of runs hold, as types for editors and type checkers: made by `make` from what the core tells of it.

`Summary` is `summary.json` of a run in simulated time, `InstantSummary` of one without time. `Rows` gives the rows of
each table their type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, TypedDict, overload

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import NotRequired
'''

_WIDTH = 120

Schema = dict[str, Any]


class Module:
    """The classes of the module, from the innermost to the whole.

    Keys of what is `written` are there unless the schema says otherwise, those of what is read may be left out.
    """

    def __init__(self, *, written: bool = False) -> None:
        self.written = written
        self.classes: dict[str, str] = {}
        """What a class is called, by its keys: equal ones are written once."""
        self.texts: list[str] = []

    def table(self, name: str, schema: Schema) -> str:
        """Write a table as a class, and say what it is called."""
        about = _quoted(_sentence(schema.get("description", "A table of a scenario.")))
        lines = []
        for key, value in _keys(schema).items():
            described = _quoted(_sentence(value.get("description", "")))
            kind = self.union(name, key, value)
            if self.written:
                kind = _written(kind, value, required=key in schema.get("required", ()))
            lines += ["", *_wrapped(f"    {key}: {kind}"), *described]
        keys = "\n".join(lines)
        if keys not in self.classes:
            self.classes[keys] = name
            total = "" if self.written else ", total=False"
            self.texts.append("\n".join([f"class {name}(TypedDict{total}):", *about, keys]))
        return self.classes[keys]

    def union(self, owner: str, key: str, schema: Schema) -> str:
        """The type of any value."""
        named = f"{'' if owner == 'Config' else owner}{_title(key)}"
        found = dict.fromkeys(self._each(named, schema))
        if self.written:
            return " | ".join(found)
        if key in STRATEGIES and any(part.startswith("Literal") for part in found):
            found["Strategy"] = None
        elif key in {"workload", "preset"} or (key == "name" and owner.lower().endswith(tuple(STRATEGIES))):
            found["str"] = None  # The folder of a trace; a file with a node; a policy in Python.
        return " | ".join(found)

    def _each(self, named: str, schema: Schema) -> list[str]:
        choices = schema.get("oneOf") or schema.get("anyOf") or []
        tables = [each for each in choices if each.get("properties")]
        if tables:
            merged = {"description": schema.get("description", tables[0].get("description", "")), "oneOf": tables}
            rest = [part for each in choices if each not in tables for part in self._each(named, each)]
            return [*rest, self.table(named, merged)]
        if values := _values(schema):
            return [f"Literal[{', '.join(values)}]"]
        if choices:
            return [part for each in choices for part in self._each(named, each)]
        if "properties" in schema:
            return [self.table(named, schema)]
        kinds = schema.get("type", "object")
        return [
            self._plain(kind, named, schema)
            for kind in ([kinds] if isinstance(kinds, str) else kinds)
            if kind != "null"
        ]

    def _plain(self, kind: str, named: str, schema: Schema) -> str:
        if kind == "array":
            return f"Sequence[{' | '.join(dict.fromkeys(self._each(f'{named}Item', schema.get('items', {}))))}]"
        if kind == "object":
            within = schema.get("additionalProperties")
            inner = (
                " | ".join(dict.fromkeys(self._each(f"{named}Item", within))) if isinstance(within, dict) else "object"
            )
            return f"Mapping[str, {inner}]"
        return TYPES[kind]


def _written(kind: str, schema: Schema, *, required: bool) -> str:
    """The type of a key that is always there, maybe as null, or only where it says something."""
    if not required:
        return f"NotRequired[{kind}]"
    nullable = "null" in schema.get("type", ()) or {"type": "null"} in schema.get("anyOf", ())
    return f"{kind} | None" if nullable else kind


def _title(key: str) -> str:
    return key.title().replace("_", "")


def _keys(schema: Schema) -> dict[str, Schema]:
    """Keys of a table; of several tables those of all of them, each with everything that it may be in one."""
    found: dict[str, list[Schema]] = {}
    told: dict[str, dict[str, list[str]]] = {}
    for each in schema.get("oneOf", [schema]):
        names = [
            json.loads(name) for value in each["properties"].values() if "const" in value for name in _values(value)
        ]
        for key, value in each["properties"].items():
            found.setdefault(key, []).append(value)
            if about := _sentence(value.get("description", "")):
                told.setdefault(key, {}).setdefault(about, []).extend(names)
    return {
        key: values[0] if len(values) == 1 else _any_of(values, _described(told.get(key, {})))
        for key, values in found.items()
    }


def _described(told: dict[str, list[str]]) -> str:
    """What a key is; where tables differ in that, what it is in each of them."""
    if len(told) < 2:
        return "".join(told)
    each = ((", ".join(f"`{name}`" for name in names), about) for about, names in told.items())
    return " ".join(f"{names}: {_ended(about)}" if names else _ended(about) for names, about in each)


def _any_of(values: list[Schema], about: str) -> Schema:
    """Whatever one of them allows; constants become one list."""
    constants = [name for each in values for name in _values(each)]
    rest = [each for each in values if not _values(each)]
    listed = [{"enum": [json.loads(name) for name in dict.fromkeys(constants)]}] if constants else []
    return {"description": about, "anyOf": [*listed, *rest]}


def _values(schema: Schema) -> list[str]:
    """The values of an enumeration, as Python writes them."""
    if "const" in schema or "enum" in schema:
        return [json.dumps(each) for each in schema.get("enum", [schema.get("const")]) if each is not None]
    choices = schema.get("oneOf", [])
    return (
        [json.dumps(each["const"]) for each in choices] if choices and all("const" in each for each in choices) else []
    )


def _sentence(text: str) -> str:
    return " ".join(text.replace("\\", "\\\\").split())


def _ended(text: str) -> str:
    return text if text.endswith((".", "`")) else f"{text}."


def _quoted(text: str) -> list[str]:
    if not text:
        return []
    text = text[:1].upper() + _ended(text[1:])
    return textwrap.wrap(f'"""{text}"""', 116, initial_indent="    ", subsequent_indent="    ", break_long_words=False)


def _wrapped(line: str) -> list[str]:
    """A key and its type, in brackets if it takes several lines."""
    if len(line) <= _WIDTH:
        return [line]
    key, kind = line.split(": ", 1)
    room = {"width": _WIDTH, "initial_indent": " " * 8, "subsequent_indent": " " * 8, "break_on_hyphens": False}
    return [f"{key}: (", *textwrap.wrap(kind, **room), "    )"]


def config() -> str:
    """The module of what a scenario may say."""
    module = Module()
    schema = json.loads(_core.schema_spelled_out())
    module.table("Config", {**schema, "description": "A scenario, or changes to one."})
    return _joined(CONFIG_HEAD, module.texts)


def totals() -> str:
    """The module of what results hold."""
    told = json.loads(_core.result_schema())
    module = Module(written=True)
    module.table("Summary", _saved(told["summary"]))
    module.table("InstantSummary", _saved(told["instant_summary"]))
    names = ", ".join(json.dumps(table["name"]) for table in told["tables"])
    named = [
        "TableName: TypeAlias = Literal[",
        *textwrap.wrap(names, 116, initial_indent="    ", subsequent_indent="    "),
    ]
    named += ["]", '"""Tables that results of runs may have."""']
    return _joined(TOTALS_HEAD, ["\n".join(named), *module.texts, *map(_row, told["tables"]), _rows(told["tables"])])


def _row(table: Schema) -> str:
    """The type of a table's rows, as a class unless a column is called like a word of Python's."""
    kinds = {column["name"]: _cell(column) for column in table["columns"]}
    if any(map(keyword.iskeyword, kinds)):
        cells = ", ".join(f'"{name}": "{kind}"' for name, kind in kinds.items())
        return f'{_named(table)} = TypedDict("{_named(table)}", {{{cells}}})'
    lines = [f"class {_named(table)}(TypedDict):", *_quoted(f"A row of `{table['name']}`: {table['row']}")]
    for column in table["columns"]:
        unit = f", in {column['unit']}" if column["unit"] else ""
        lines += ["", f"    {column['name']}: {kinds[column['name']]}", *_quoted(f"{column['meaning']}{unit}")]
    return "\n".join(lines)


def _cell(column: Schema) -> str:
    """The type of a column's cells; some columns are only in tables of some runs."""
    kind = CELLS[column["kind"]]
    return kind if column["of"] == "all" else f"NotRequired[{kind}]"


def _named(table: Schema) -> str:
    return f"{_title(table['name'])}Row"


def _rows(tables: list[Schema]) -> str:
    """The type of a function from the name of a table to its rows."""
    lines = ["class Rows(Protocol):", '    """Returns the rows of a table by its name."""']
    for table in tables:
        lines += ["", "    @overload"]
        lines += [f'    def __call__(self, name: Literal["{table["name"]}"], /) -> list[{_named(table)}]: ...']
    return "\n".join(lines)


def _saved(schema: Schema) -> Schema:
    """The schema of what a run returns with what is written beside it."""
    beside = {
        "octavo": {"type": "string", "description": "The version that wrote it."},
        "format": {"type": "integer", "description": "The version of all that results hold."},
    }
    required = [*beside, *schema.get("required", ())]
    return {**schema, "properties": {**beside, **schema["properties"]}, "required": required}


def _joined(head: str, texts: list[str]) -> str:
    return "\n\n\n".join([head.rstrip("\n"), *texts]) + "\n"


if __name__ == "__main__":
    CONFIG.write_text(config(), encoding="utf-8")
    TOTALS.write_text(totals(), encoding="utf-8")
