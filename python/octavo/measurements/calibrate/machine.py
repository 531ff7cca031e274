"""The machine file: what was measured on which machine, and the node that follows from it."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from octavo.errors import CalibrationError
from octavo.files.toml import read_toml
from octavo.measurements.calibrate import quantities
from octavo.measurements.calibrate.measurement import Measured
from octavo.measurements.calibrate.probes import VALUES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tomlkit.items import Table

    from octavo.measurements.calibrate.probes import Value

FORMAT = 1
_ABOUT: dict[str, type] = {
    **dict.fromkeys(("gpu", "uuid", "compute_capability", "driver", "cuda", "nvrtc", "host", "kernel"), str),
    **dict.fromkeys(("date", "octavo", "effort", "transparent_huge_pages"), str),
    **dict.fromkeys(("gpus", "processors", "page_bytes", "numa_nodes", "numa_node"), int),
    "device": dict,
}
"""Keys of `[machine]`."""
_WORDS: Mapping[type, str] = {str: "a text", int: "a whole number", dict: "a table"}


@dataclass(frozen=True)
class Machine:
    """The contents of a machine file."""

    about: Mapping[str, Any]
    """`[machine]`: GPU, driver, compiler, host, date, effort, and `device`: the GPU as its driver describes it."""
    measured: Mapping[str, Measured]
    skipped: Mapping[str, str] = field(default_factory=dict)
    node: Mapping[str, Any] | None = None
    """The node for `octavo run --node`."""


def machine_text(machine: Machine, node: str = "") -> str:
    """The file's text; `node` is its table `[node]`, with a comment for each value, or empty."""
    import tomlkit  # noqa: PLC0415 - reading does without

    document = tomlkit.document()
    document.add(tomlkit.comment("Measured by `octavo calibrate`; `octavo calibrate show` draws what it stands on."))
    document.add("format", tomlkit.item(FORMAT))
    about = tomlkit.table()
    for key, value in machine.about.items():
        about.add(key, value)
    document.add("machine", about)
    measured = tomlkit.table(is_super_table=True)
    for name, value in machine.measured.items():
        measured.add(name, _entry(value))
    document.add("measured", measured)
    skipped = tomlkit.table()
    for name, reason in machine.skipped.items():
        skipped.add(name, reason)
    document.add("skipped", skipped)
    text = tomlkit.dumps(document)
    return f"{text.rstrip()}\n\n{node.strip()}\n" if node else text


def _entry(value: Measured) -> Table:
    """One value, below a comment that explains it, so that the file can be read without the documentation."""
    import tomlkit  # noqa: PLC0415 - as above

    known = _known(value.name)
    entry = tomlkit.table()
    if known is not None:
        entry.add(tomlkit.comment(known.about))
    for key in ("value", "low", "high"):
        number = getattr(value, key)
        entry.add(key, number if value.unit == "1" else quantities.text(number, value.unit))
    entry.add("repetitions", value.repetitions)
    entry.add("probe", value.probe)
    if known is not None:
        entry.add("fit", known.how)
    if value.note:
        entry.add("note", value.note)
    return entry


def read(path: Path) -> Machine:
    """Read a machine file.

    Raises:
        CalibrationError: it cannot be read, is none, or a key of it is not as expected.

    """
    try:
        values = read_toml(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise CalibrationError(f"cannot read machine file {path}: {reason}", code="unreadable", file=path) from None
    except ValueError as error:
        raise CalibrationError(
            f"{path}: expected TOML, found {error}", code="unexpected-value", file=path, found=error
        ) from None
    except RecursionError:
        raise CalibrationError(f"{path}: tables or lists are nested too deeply", file=path) from None
    return _machine(values, str(path))


def _machine(values: dict[str, Any], path: str) -> Machine:
    if values.get("format") != FORMAT:
        found = values.get("format", "none")
        raise CalibrationError(
            f"{path}: key `format`: expected a machine file of format {FORMAT}, found {found}",
            "`octavo calibrate` writes machine files",
            code="other-format",
            file=path,
            key="format",
            found=found,
        )
    _check_keys(values, {"format", "machine", "measured", "skipped", "node"}, path, "")
    about, measured, skipped = (_table(values, key, path) for key in ("machine", "measured", "skipped"))
    for key, kind in _ABOUT.items():
        if key in about and not isinstance(about[key], kind):
            raise CalibrationError(
                f"{path}: key `machine.{key}`: expected {_WORDS[kind]}, found {about[key]!r}",
                code="unexpected-value",
                file=path,
                expected=_WORDS[kind],
                found=about[key],
            )
    _check_keys(about, set(_ABOUT), path, "machine.")
    for key in ("gpu", "gpus", "uuid", "effort"):
        if key not in about:
            raise CalibrationError(
                f"{path}: key `machine.{key}`: expected {_WORDS[_ABOUT[key]]}, found nothing",
                code="unexpected-value",
                file=path,
                expected=_WORDS[_ABOUT[key]],
            )
    for name, reason in skipped.items():
        if not isinstance(reason, str):
            raise CalibrationError(
                f"{path}: key `skipped.{name}`: expected a reason, found {reason!r}",
                code="unexpected-value",
                file=path,
                found=reason,
            )
    node = _table(values, "node", path) if "node" in values else None
    return Machine(about, {name: _measured(name, entry, path) for name, entry in measured.items()}, skipped, node)


def _measured(name: str, entry: Any, path: str) -> Measured:
    key = f"measured.{name}"
    if not isinstance(entry, dict):
        raise CalibrationError(
            f"{path}: key `{key}`: expected a table, found {entry!r}",
            code="unexpected-value",
            file=path,
            key=key,
            found=entry,
        )
    known = _known(name)
    if known is None:
        near = difflib.get_close_matches(name, [value.name for value in VALUES], 1)
        hint = f"did you mean `{near[0]}`?" if near else "`octavo calibrate probes --values` lists the names"
        raise CalibrationError(
            f"{path}: key `{key}`: expected a measured value, found an unknown name",
            hint,
            code="unexpected-value",
            file=path,
            key=key,
        )
    _check_keys(entry, {"value", "low", "high", "repetitions", "probe", "fit", "note"}, path, f"{key}.")
    numbers = {part: _number(entry, part, known, path, key) for part in ("value", "low", "high")}
    if not numbers["low"] <= numbers["value"] <= numbers["high"]:
        found = " to ".join(str(entry[part]) for part in ("low", "high"))
        raise CalibrationError(
            f"{path}: key `{key}`: expected a value between low and high, found {found}",
            code="unexpected-value",
            file=path,
            key=key,
            found=found,
        )
    repetitions = entry.get("repetitions")
    if not isinstance(repetitions, int) or repetitions < 1:
        raise CalibrationError(
            f"{path}: key `{key}.repetitions`: expected a number from 1, found {repetitions!r}",
            code="unexpected-value",
            file=path,
            found=repetitions,
        )
    if entry.get("probe") != known.probe:
        raise CalibrationError(
            f"{path}: key `{key}.probe`: expected `{known.probe}`, found {entry.get('probe')!r}",
            code="unexpected-value",
            file=path,
            expected=known.probe,
        )
    return Measured(name, **numbers, unit=known.unit, repetitions=repetitions, probe=known.probe, note=_note(entry))


def _note(entry: dict[str, Any]) -> str:
    return str(entry.get("note", ""))


def _number(entry: dict[str, Any], part: str, known: Value, path: str, key: str) -> float:
    found = entry.get(part)
    expected = quantities.EXPECTED[known.unit]
    if known.unit == "1" and isinstance(found, (int, float)) and not isinstance(found, bool):
        try:
            return float(found)
        except OverflowError:
            raise CalibrationError(
                f"{path}: key `{key}.{part}`: expected {expected}, found one beyond 1e308",
                code="unexpected-value",
                file=path,
                expected=expected,
            ) from None
    if known.unit != "1" and isinstance(found, str):
        try:
            return quantities.number(found, known.unit)
        except ValueError as error:
            raise CalibrationError(f"{path}: key `{key}.{part}`: {error}", file=path) from None
    raise CalibrationError(
        f"{path}: key `{key}.{part}`: expected {expected}, found {found!r}",
        code="unexpected-value",
        file=path,
        expected=expected,
        found=found,
    )


def _known(name: str) -> Value | None:
    """The registry's entry of a measured name, which may end with the numbers of two GPUs."""
    pair = re.fullmatch(r"(.+?)_[0-9]+_[0-9]+", name)
    for value in VALUES:
        if value.name == (pair[1] if pair and value.each_pair else name):
            return value if value.each_pair == bool(pair and value.each_pair) else None
    return None


def _table(values: dict[str, Any], key: str, path: str) -> dict[str, Any]:
    found = values.get(key, {})
    if not isinstance(found, dict):
        raise CalibrationError(
            f"{path}: key `{key}`: expected a table, found {found!r}",
            code="unexpected-value",
            file=path,
            key=key,
            found=found,
        )
    return found


def _check_keys(values: dict[str, Any], known: set[str], path: str, where: str) -> None:
    for key in values:
        if key not in known:
            expected = ", ".join(sorted(known))
            raise CalibrationError(
                f"{path}: key `{where}{key}`: expected one of {expected}, found an unknown key",
                code="unexpected-value",
                file=path,
                expected=expected,
            )
