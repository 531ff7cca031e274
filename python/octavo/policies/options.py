"""Options of a user's class: annotated attributes with defaults, checked like options of what is built in."""

from __future__ import annotations

import difflib
import inspect
import sys
import typing
from abc import ABC
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, cast

from octavo._core import OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping

Value = bool | int | float | str
T = TypeVar("T", bool, int, float, str)

_BASES = ("octavo.policies.base", "octavo.generators.base")
"""Modules of the base classes, of which no attribute is an option."""
_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


@dataclass(frozen=True)
class Declared:
    """The declaration of an option with `option`."""

    default: Value
    meaning: str
    minimum: float | None
    maximum: float | None


class Configurable(ABC):  # noqa: B024 - what is abstract is said below
    """A class of a user's own with options, which a scenario names by its place."""

    _declared: ClassVar[dict[str, Declared]] = {}
    _reserved: ClassVar[tuple[str, ...]] = ("name", "digest")
    """What no option can be called: keys that stand beside the options in a scenario, and attributes of the base."""

    def __init_subclass__(cls, **arguments: object) -> None:
        """Keep what options were declared with, and leave their defaults in the class."""
        super().__init_subclass__(**arguments)
        cls._declared = {name: value for name, value in vars(cls).items() if isinstance(value, Declared)}
        for name, value in cls._declared.items():
            setattr(cls, name, value.default)


def option(default: T, meaning: str = "", *, minimum: float | None = None, maximum: float | None = None) -> T:
    """Declare an option of a policy or a workload.

    Args:
        default: its value unless a scenario sets it; give its unit and source in `meaning`.
        meaning: a description for readers and messages.
        minimum: the lowest permitted number, if there is one.
        maximum: the highest permitted number, if there is one.

    Returns:
        The option; instances have its value: `threshold: int = option(8, "faults", minimum=1)`.

    """
    # The class keeps the default; see `Configurable.__init_subclass__`.
    return cast("T", Declared(default, meaning, minimum, maximum))


@dataclass(frozen=True)
class Option:
    """One option of a class."""

    name: str
    kind: type
    """`bool`, `int`, `float` or `str`."""
    words: tuple[str, ...]
    """The permitted words, from a `Literal`; empty if any are permitted."""
    default: Value
    meaning: str = ""
    minimum: float | None = None
    maximum: float | None = None

    def packed(self) -> dict[str, Any]:
        """As JSON."""
        return {**vars(self), "kind": self.kind.__name__}

    @classmethod
    def unpacked(cls, found: dict[str, Any]) -> Option:
        """The same again."""
        kind = next(kind for kind in _WORDS if kind.__name__ == found["kind"])
        return cls(**{**found, "kind": kind, "words": tuple(found["words"])})

    @property
    def expected(self) -> str:
        """The accepted values, in words."""
        if self.words:
            return f"one of {', '.join(self.words)}"
        bounds = [(self.minimum, "from"), (self.maximum, "to")]
        return _WORDS[self.kind] + "".join(f" {word} {bound:g}" for bound, word in bounds if bound is not None)

    def check(self, value: object) -> Value:
        """The value converted to its type.

        Raises:
            OptionError: it is no value of this option.

        """
        fits = type(value) in ((int, float) if self.kind is float else (self.kind,))
        if fits and isinstance(value, (int, float)):
            below = self.minimum is not None and value < self.minimum
            fits = not below and not (self.maximum is not None and value > self.maximum)
        if not fits or (self.words and value not in self.words):
            raise OptionError(self.name, f"expected {self.expected}, found {_shown(value)}")
        return cast("Value", self.kind(value))


def declared(policy: type[Configurable]) -> dict[str, Option]:
    """The options of a class by name, in the order of their declaration, options of its bases first.

    Raises:
        OptionError: an annotation or a default cannot be an option's.

    """
    found: dict[str, Option] = {}
    for cls in reversed(policy.__mro__):
        if cls.__module__ in _BASES:
            continue
        for name, annotation in inspect.get_annotations(cls).items():
            if name in vars(cls) and not name.startswith("_"):
                described = _option(cls, name, annotation)
                if described is not None:
                    found[name] = described
    return found


def settled(options: Mapping[str, Option], given: Mapping[str, object]) -> dict[str, Value]:
    """Every option with its value: the given one, or its default.

    Raises:
        OptionError: a value is given for something that is no option, or is none of its values.

    """
    for name in given:
        if name not in options:
            near = difflib.get_close_matches(name, options, n=1)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            raise OptionError(name, f"unknown option, expected {', '.join(options) or 'no options'}{hint}")
    return {name: option.check(given.get(name, option.default)) for name, option in options.items()}


def _option(cls: type[Configurable], name: str, annotation: object) -> Option | None:
    annotation = _evaluated(cls, name, annotation)
    if typing.ClassVar in (annotation, typing.get_origin(annotation)):
        return None
    if name in cls._reserved:
        raise OptionError("name", f"{cls.__name__}: an option cannot be called `{name}`")
    about = cls._declared.get(name) or Declared(vars(cls)[name], "", None, None)
    kind, words = _kind(cls, name, annotation)
    found = Option(name, kind, words, about.default, about.meaning, about.minimum, about.maximum)
    try:
        found.check(about.default)
    except OptionError as error:
        raise OptionError("name", f"{cls.__name__}: default of option `{name}`: {error.args[1]}") from None
    return found


def _evaluated(cls: type, name: str, annotation: object) -> Any:
    """The type that an annotation names, if it is a text."""
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, vars(sys.modules[cls.__module__]), dict(vars(cls)))  # noqa: S307 - the user's own code
    except Exception as error:
        raise OptionError("name", f"{cls.__name__}: annotation of `{name}` cannot be read: {error}") from None


def _kind(policy: type[Configurable], name: str, annotation: Any) -> tuple[type, tuple[str, ...]]:
    words = typing.get_args(annotation) if typing.get_origin(annotation) is Literal else ()
    if words and all(isinstance(word, str) for word in words):
        return str, words
    if annotation in _WORDS:
        return annotation, ()
    shown = getattr(annotation, "__name__", None) or str(annotation)
    raise OptionError(
        "name",
        f"{policy.__name__}: option `{name}`: expected bool, int, float, str or a Literal of words, found {shown}; "
        "`start` is the place for attributes that are not options",
    )


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)
