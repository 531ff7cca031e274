"""A user's workload: its code is called here; what it raises, or says that cannot be, is refused with file and line."""

from __future__ import annotations

import operator
import sys
import traceback
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

from octavo.errors import WorkloadError
from octavo.generators.parts import LINE_BYTES, Buffer, Exchange, Launch
from octavo.policies.engine import made
from octavo.policies.find import find, line_in, place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from octavo.generators.base import Generator

_MOST_LINES = (1 << 32) - 1
"""Of all buffers: replays number lines with 32 bits."""
_MOST_WORD, _MOST_HALF = (1 << 32) - 1, (1 << 16) - 1
_MOST_WAVEFRONTS = 1024
_MOST_NAME = 1024
_LANES = (64, 32)
_ALIGNMENT = 2 << 20
"""Buffers begin on such boundaries, as those of kernel models do."""
Part = TypeVar("Part", Buffer, Launch, Exchange)


class Own:
    """An object of the user's class, and what it said."""

    def __init__(self, generator: Generator, file: str, shown: str) -> None:
        """Ask for all but instructions.

        Args:
            generator: the object, with its options, scale and seed set.
            file: the file of its class as Python names it.
            shown: the same as the user named it.

        """
        self.generator, self.file, self.shown = generator, file, shown
        if generator.lanes not in _LANES:
            expected = "64 or 32"
            message = f"lanes: expected {expected}, found {generator.lanes!r}"
            raise self.refused(message, code="unexpected-value", key="lanes", expected=expected)
        with self.asked("start"):
            generator.start()
        self.buffers = self._buffers(self._list("buffers", Buffer, generator.buffers))
        self.launches = [
            self._launch(each, at) for at, each in enumerate(self._list("launches", Launch, generator.launches))
        ]
        if not self.launches:
            raise self.refused("launches() gives none: expected at least one Launch", code="missing", key="launches")
        self.buffers = [self._lives(each) for each in self.buffers]
        self.exchanges = [
            self._exchange(each, at) for at, each in enumerate(self._list("host", Exchange, generator.host))
        ]

    @classmethod
    def of(cls, order: dict[str, Any]) -> Own:
        """Load the class that an order names.

        Raises:
            OptionError: it is not what the digest is of, or an option cannot be used.
            WorkloadError: its code raised, or says what cannot be.

        """
        found = find("workload", order["name"], order["digest"])
        generator = cast("Generator", made(found, order["options"]))
        generator.scale, generator.seed = float(order["scale"]), int(order["seed"])
        file = getattr(sys.modules[found.policy.__module__], "__file__", None)
        return cls(generator, str(file), place(found.name))

    @cached_property
    def bases(self) -> dict[str, int]:
        """The first line of each buffer."""
        found, end = {}, 0
        for buffer in self.buffers:
            found[buffer.name] = end // LINE_BYTES
            end = -(-(end + buffer.bytes) // _ALIGNMENT) * _ALIGNMENT
        return found

    def described(self) -> dict[str, Any]:
        """What the engine asks for, as JSON."""
        sizes = {buffer.name: buffer.bytes for buffer in self.buffers}
        return {
            "buffers": [vars(buffer) for buffer in self.buffers],
            "launches": [
                {key: each for key, each in vars(launch).items() if key != "about"} for launch in self.launches
            ],
            "exchanges": [_spelled_out(exchange, sizes[exchange.buffer]) for exchange in self.exchanges],
        }

    @contextmanager
    def asked(self, method: str) -> Iterator[None]:
        """Refuse what the user's code raises, with its file and line.

        Raises:
            WorkloadError: it raised.

        """
        try:
            yield
        except (WorkloadError, MemoryError):
            raise
        except (Exception, SystemExit) as error:
            line = line_in(error, self.file)
            refused = self.refused(f"{method} raised {type(error).__name__}: {error}", line=line, code="bad-workload")
            refused.details = "".join(traceback.format_exception(error)).rstrip()
            raise refused from None

    def each(self, method: str, ask: Callable[[], Iterable[object]]) -> Iterator[object]:
        """What a method of the user's gives one by one; errors as `asked`."""
        with self.asked(method):
            given = iter(ask())
        nothing = object()
        while True:
            with self.asked(method):
                found = next(given, nothing)
            if found is nothing:
                return
            yield found

    def refused(self, message: str, line: int | None = None, **facts: Any) -> WorkloadError:
        """An error about the user's file."""
        at = "" if line is None else f"line {line}: "
        return WorkloadError(f"{self.shown}: {at}{message}", file=self.shown, line=line, **facts)

    def number(self, what: str, value: object, least: int, most: int, line: int | None = None) -> int:
        """A whole number within bounds, also one of NumPy's.

        Raises:
            WorkloadError: it is none.

        """
        try:
            found = operator.index(cast("Any", value))
        except TypeError:
            found = None
        if found is None or isinstance(value, bool) or not least <= found <= most:
            expected = f"a whole number from {least} to {most}"
            message = f"{what}: expected {expected}, found {value!r}"
            raise self.refused(message, line, code="unexpected-value", key=what, expected=expected, found=repr(value))
        return found

    def _list(self, method: str, kind: type[Part], ask: Any) -> list[Part]:
        with self.asked(method):
            found: Iterable[object] = list(ask())
        for each in found:
            if not isinstance(each, kind):
                message = f"{method}() gives {each!r}: expected a {kind.__name__}"
                raise self.refused(
                    message, code="unexpected-value", key=method, expected=kind.__name__, found=repr(each)
                )
        return cast("list[Part]", found)

    def _text(self, what: str, value: object) -> str:
        if not isinstance(value, str) or not 0 < len(value.encode()) <= _MOST_NAME:
            message = f"{what}: expected a name, found {value!r}"
            raise self.refused(message, code="unexpected-value", key=what, expected="a name", found=repr(value))
        return value

    def _buffers(self, found: list[Buffer]) -> list[Buffer]:
        checked: list[Buffer] = []
        lines = 0
        for at, each in enumerate(found):
            name = self._text(f"buffers()[{at}].name", each.name)
            if name in (known.name for known in checked):
                message = f"buffers() has two called `{name}`: expected another name"
                raise self.refused(message, code="ambiguous", key="buffers", found=name)
            size = self.number(f"bytes of buffer `{name}`", each.bytes, 1, _MOST_LINES * LINE_BYTES)
            checked.append(replace(each, bytes=size, input=bool(each.input), output=bool(each.output)))
            lines += -(-size // _ALIGNMENT) * (_ALIGNMENT // LINE_BYTES)
        if not checked:
            raise self.refused("buffers() gives none: expected at least one Buffer", code="missing", key="buffers")
        if lines > _MOST_LINES:
            message = f"buffers take {lines} lines: expected at most {_MOST_LINES}"
            raise self.refused(message, code="too-large", key="buffers", expected=_MOST_LINES, found=lines)
        return checked

    def _lives(self, given: Buffer) -> Buffer:
        """A buffer that exists for some launch, and when the host has it at the beginning or the end, then."""
        last = len(self.launches)
        first = self.number(f"first of buffer `{given.name}`", given.first, 0, 0 if given.input else last - 1)
        if given.end is None:
            return replace(given, first=first)
        least = last if given.output else first + 1
        end = self.number(f"end of buffer `{given.name}`", given.end, least, last)
        return replace(given, first=first, end=None if end == last else end)

    def _launch(self, given: Launch, at: int) -> Launch:
        def number(what: str, least: int, most: int) -> int:
            return self.number(f"launches()[{at}].{what}", getattr(given, what), least, most)

        wavefronts = number("wavefronts", 1, _MOST_WAVEFRONTS)
        return Launch(
            self._text(f"launches()[{at}].kernel", given.kernel),
            number("groups", 1, _MOST_WORD // (wavefronts * self.generator.lanes)),
            wavefronts,
            number("vector_registers", 0, _MOST_HALF),
            number("scalar_registers", 0, _MOST_HALF),
            number("local_data_bytes", 0, _MOST_WORD),
            given.about,
        )

    def _exchange(self, given: Exchange, at: int) -> Exchange:
        what = f"host()[{at}]"
        buffer = self.buffer(given.buffer, what)
        end = len(self.launches) if buffer.end is None else buffer.end
        before = self.number(f"{what}.before", given.before, buffer.first, end)
        first = self.number(f"{what}.first", given.first, 0, buffer.bytes - 1)
        size = buffer.bytes - first
        if given.bytes is not None:
            size = self.number(f"{what}.bytes", given.bytes, 1, size)
        return Exchange(before, buffer.name, bool(given.writes), first, size)

    def buffer(self, name: str, what: str, line: int | None = None) -> Buffer:
        """The buffer of a name.

        Raises:
            WorkloadError: there is none.

        """
        for each in self.buffers:
            if each.name == name:
                return each
        known = [each.name for each in self.buffers]
        message = f"{what}: no buffer is called `{name}`, expected one of {', '.join(known)}"
        raise self.refused(message, line, code="unknown-name", key="buffer", expected=known, found=name)


def _spelled_out(exchange: Exchange, size: int) -> dict[str, Any]:
    end = size if exchange.bytes is None else exchange.first + exchange.bytes
    named = {"before": exchange.before, "buffer": exchange.buffer, "writes": exchange.writes}
    return {**named, "first": exchange.first, "end": end}
